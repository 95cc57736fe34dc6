"""A client of the link protocol. Runs each scenario on connections of its own and prints its report as one line of JSON."""

import json
import sys

from members import MEMBERS
from wire import Ended, RpcError, Wire, dial, digest_of


class Client(Wire):
    def __init__(self, path):
        super().__init__(dial(path))
        self.items = {}
        self.progress = {}
        self.pings = 0
        self.is_leaving = False
        self.answers_goodbye = True

    def on_request(self, id, method, params):
        if method == "surface/ping":
            self.pings += 1
            self.send({"id": id, "result": None})
        else:
            self.send({"id": id, "error": {"code": -32601, "message": "a client serves nothing"}})

    def on_notification(self, method, params):
        if method == "surface/item":
            self.items.setdefault(params.pop("stream"), []).append(params)
        elif method == "surface/progress":
            self.progress.setdefault(params["token"], []).append(params.get("value"))
        elif method == "surface/goodbye" and not self.is_leaving:
            self.is_leaving = True
            if self.answers_goodbye:
                self.notify("surface/goodbye", {})

    def hello(self, members=MEMBERS, surface="ci", protocol=1, **more):
        digests = {key: digest_of(member) for key, member in members.items()}
        return self.request("surface/hello", {"protocol": protocol, "surface": surface, "members": digests, **more})

    def start_ask(self, verb, member, **more):
        return self.start("surface/ask", {"verb": verb, "member": member, **more})

    def ask(self, verb, member, **more):
        return self.answer(self.start_ask(verb, member, **more))

    def follow(self, verb, member, stream, credit, **more):
        return self.start(
            "surface/follow", {"verb": verb, "member": member, "stream": stream, "credit": credit, **more}
        )

    def grant(self, stream, credit):
        self.notify("surface/credit", {"stream": stream, "credit": credit})

    def wait_items(self, stream, count):
        self.until(lambda: len(self.items.get(stream, [])) >= count)
        return self.items[stream]

    def barrier(self):
        """Waits until the server has handled everything that was sent before."""
        self.request("surface/ping", {})

    def goodbye(self):
        self.notify("surface/goodbye", {})
        self.close()


def failure(run):
    """Returns the error that something fails with."""
    try:
        return {"answered": run()}
    except RpcError as error:
        return error.report()
    except (Ended, ConnectionError):
        return {"ended": True}


def greeted(path):
    client = Client(path)
    client.hello()
    return client


def versions(path):
    client = Client(path)
    before = failure(lambda: client.ask("get", "count"))
    wrong = failure(lambda: client.hello(protocol=2))
    name = failure(lambda: client.hello(surface="other"))
    right = client.hello()
    again = client.hello()
    other = failure(lambda: client.hello(surface="other"))
    client.goodbye()
    return {"before": before, "wrong": wrong, "name": name, "right": right["protocol"], "again": again == right, "other": other}


def contracts(path):
    client = Client(path)
    answer = client.hello({**MEMBERS, "gone": {"kind": "cell", "parts": {}}})
    described = client.request("surface/describe", {"members": sorted(MEMBERS)})["members"]
    client.goodbye()
    return {
        "surface": answer["surface"],
        "heartbeatMs": answer["heartbeatMs"],
        "answeredFor": sorted(answer["members"]),
        "hashes": [key for key in sorted(MEMBERS) if answer["members"][key] != digest_of(MEMBERS[key])],
        "shapes": [key for key in sorted(MEMBERS) if described[key] != MEMBERS[key]],
    }


def segments(path):
    client = Client(path)
    members = {f"own.{key}": member for key, member in MEMBERS.items()}
    answer = client.hello(members, surface="both", segments={"own": "ci"})
    value = client.ask("get", "own.count")
    client.goodbye()
    return {"surface": answer["surface"], "members": len(answer["members"]) == len(members), "value": value}


def uses(path):
    client = greeted(path)
    report = {
        "get": client.ask("get", "count"),
        "keys": client.ask("keys", "places"),
        "item": client.ask("item", "places", argument="a"),
        "noItem": client.ask("item", "places", argument="żółw"),
        "list": client.ask("list", "places", argument={"limit": 1}),
        "latest": failure(lambda: client.ask("latest", "lines", argument=1)),
        "wait": client.ask("wait", "rang", options={"timeoutMs": 0}),
        "recent": client.ask("recent", "rang"),
        "call": client.ask("call", "run", argument={"node": "build"}, progress=7),
        "void": client.ask("call", "set", argument=1),
    }
    cursor = report["wait"]["value"]["cursor"]
    waiting = client.start_ask("wait", "rang", options={"since": cursor, "timeoutMs": 5000})
    client.ask("call", "run", argument={"node": "ring"})
    report["fired"] = client.answer(waiting)["value"]
    report["progress"] = client.progress[7]
    client.goodbye()
    return report


def errors(path):
    client = greeted(path)
    report = {
        "refusal": failure(lambda: client.ask("call", "run", argument={"node": "busy"})),
        "internal": failure(lambda: client.ask("call", "run", argument={"node": "fault"})),
        "argument": failure(lambda: client.ask("call", "run", argument={"node": 7})),
        "member": failure(lambda: client.ask("get", "nowhere")),
        "kind": failure(lambda: client.ask("get", "run")),
        "method": failure(lambda: client.request("surface/nothing", {})),
        "params": failure(lambda: client.request("surface/ask", {"verb": 1})),
    }
    cancelled = client.start_ask("call", "run", argument={"node": "slow"})
    client.notify("$/cancelRequest", {"id": cancelled})
    report["cancelled"] = failure(lambda: client.answer(cancelled))
    client.notify("surface/unknown", {})
    client.send({"id": 4711, "result": {}})
    report["alive"] = client.ask("get", "count")
    client.goodbye()
    return report


def watching(path):
    client = greeted(path)
    client.ask("call", "set", argument=1)
    follow = client.follow("watch", "count", stream=1, credit=1)
    first = list(client.wait_items(1, 1))
    for value in (2, 3, 4):
        client.ask("call", "set", argument=value)
    client.barrier()
    without_credit = len(client.items[1])
    client.grant(1, 1)
    second = client.wait_items(1, 2)[1:]
    client.notify("$/cancelRequest", {"id": follow})
    end = failure(lambda: client.answer(follow))
    client.ask("call", "set", argument=1)
    client.goodbye()
    return {"first": first, "withoutCredit": without_credit, "second": second, "end": end}


def streaming(path):
    client = greeted(path)
    follow = client.follow("open", "lines", stream=2, credit=3, argument=6)
    client.wait_items(2, 3)
    client.barrier()
    before = [item["value"] for item in client.items[2]]
    client.grant(2, 2)
    client.wait_items(2, 5)
    client.barrier()
    between = len(client.items[2])
    client.grant(2, 5)
    end = client.answer(follow)
    client.goodbye()
    return {"before": before, "between": between, "all": [item["value"] for item in client.items[2]], "end": end}


def endings(path):
    report = {}
    for name, sent in {
        "garbage": b"garbage\r\n\r\n",
        "notJson": b"Content-Length: 1\r\n\r\n{",
        "batch": b"Content-Length: 2\r\n\r\n[]",
        "nullId": b'Content-Length: 47\r\n\r\n{"jsonrpc":"2.0","id":null,"method":"x","z":[]}',
        "large": b"Content-Length: 99999999\r\n\r\n",
    }.items():
        client = greeted(path)
        client.sock.sendall(sent)
        report[name] = failure(lambda: client.read_for(10))
        client.close()
    return report


def leaving(path):
    """Runs a call while the server closes. The test closes it when it sees the first line."""
    client = greeted(path)
    running = client.start_ask("call", "run", argument={"node": "held"}, progress=1)
    client.until(lambda: client.progress.get(1))
    print("running", flush=True)
    client.until(lambda: client.is_leaving)
    answer = client.answer(running)
    return {"answer": answer, "end": failure(lambda: client.read_for(10))}


def crossing(path):
    """Sends a request that crosses the server's goodbye. The test closes the server when it sees the first line."""
    client = greeted(path)
    client.answers_goodbye = False
    running = client.start_ask("call", "run", argument={"node": "held"}, progress=1)
    client.until(lambda: client.progress.get(1))
    print("running", flush=True)
    client.until(lambda: client.is_leaving)
    crossed = client.start_ask("call", "set", argument=99)
    client.notify("surface/goodbye", {})
    return {"late": failure(lambda: client.answer(crossed)), "answer": client.answer(running)}


def main():
    scenario, path = sys.argv[1:3]
    scenarios = [versions, contracts, segments, uses, errors, watching, streaming, endings, leaving, crossing]
    run = {one.__name__: one for one in scenarios}[scenario]
    print(json.dumps(run(path)), flush=True)


main()
