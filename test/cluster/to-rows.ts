import type { ClusterChaosOutcome } from "./run-chaos.ts";

/** Returns the figures of a run, a name and a number each. */
export function toRows({ clients, disturbed, kills, ledger, probes }: ClusterChaosOutcome): [string, string][] {
  const mutations = clients.flatMap((client) => client.mutations);
  const count = (outcome: string): number => mutations.filter((mutation) => mutation.outcome === outcome).length;
  const sum = (field: "reads" | "failedReads" | "deliveries" | "notices"): number =>
    clients.reduce((total, client) => total + client[field], 0);
  const rows: [string, number][] = [
    ["kills of replicas", kills],
    ...[...disturbed].map(([name, times]): [string, number] => [`  rounds: ${name}`, times]),
    ["clients", clients.length],
    ["calls", mutations.length],
    ["  answered", count("answered")],
    ["  failed", count("failed")],
    ["    told OUTCOME_UNKNOWN", mutations.filter(({ told }) => told.includes("OUTCOME_UNKNOWN")).length],
    ["  answer lost", count("lost")],
    ["  refused", count("refused")],
    ["entries", ledger.length],
    ["  doubled", ledger.length - new Set(ledger).size],
    ["reads", sum("reads")],
    ["  failed", sum("failedReads")],
    ["messages delivered, all checked", sum("deliveries")],
    ["  notifications of changes", sum("notices")],
    ["  of another principal", clients.reduce((total, { foreign }) => total + foreign.length, 0)],
    [
      "sessions begun again after Redis was emptied",
      clients.reduce((total, one) => total + one.lostSessions.length, 0),
    ],
    ["probes for another principal's session", probes],
  ];
  return rows.map(([name, value]) => [name, value.toLocaleString("en")]);
}
