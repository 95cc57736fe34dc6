import type { ClusterChaosOutcome } from "./run-chaos.ts";

/** Returns the figures of a run, a name and a number each. */
export function toRows({
  clients,
  watchers,
  disturbed,
  kills,
  ledger,
  probes,
}: ClusterChaosOutcome): [string, string][] {
  const mutations = clients.flatMap((client) => client.mutations);
  const count = (outcome: string): number => mutations.filter((mutation) => mutation.outcome === outcome).length;
  const everyone = [...clients, ...watchers];
  const sum = (field: "deliveries" | "notices"): number => everyone.reduce((total, one) => total + one[field], 0);
  const sumReads = (field: "reads" | "failedReads"): number => clients.reduce((total, one) => total + one[field], 0);
  const rows: [string, number][] = [
    ["kills of replicas", kills],
    ...[...disturbed].map(([name, times]): [string, number] => [`  rounds: ${name}`, times]),
    ["clients that call, read and watch", clients.length],
    ["clients that only watch", watchers.length],
    ["calls", mutations.length],
    ["  answered", count("answered")],
    ["  failed", count("failed")],
    ["    told OUTCOME_UNKNOWN", mutations.filter(({ told }) => told.includes("OUTCOME_UNKNOWN")).length],
    ["  answer lost", count("lost")],
    ["  refused", count("refused")],
    ["entries", ledger.length],
    ["  doubled", ledger.length - new Set(ledger).size],
    ["reads", sumReads("reads")],
    ["  failed", sumReads("failedReads")],
    ["messages delivered, all checked", sum("deliveries")],
    ["  notifications of changes", sum("notices")],
    ["  of another principal", everyone.reduce((total, { foreign }) => total + foreign.length, 0)],
    [
      "sessions begun again after Redis was emptied",
      everyone.reduce((total, { lostSessions }) => total + lostSessions.length, 0),
    ],
    ["probes for another principal's session", probes],
  ];
  return rows.map(([name, value]) => [name, value.toLocaleString("en")]);
}
