"""A server of the link protocol: serves the surface "ci" at a Unix socket, to each connection in a thread of its own."""

import os
import socket
import sys
import threading

from members import MEMBERS
from wire import Ended, Wire, digest_of


class Failed(Exception):
    """A use that fails, with the data of its error."""

    def __init__(self, **data):
        super().__init__(data["code"])
        self.data = data


class State:
    """What all connections see."""

    def __init__(self):
        self.count = 1
        self.places = {"a": 1, "b": 2}
        self.changes = 0


STATE = State()


class Stream:
    def __init__(self, request, verb, values, credit):
        self.request = request
        self.verb = verb
        self.values = values
        self.credit = credit
        self.seen = -1


class Server(Wire):
    def __init__(self, sock):
        super().__init__(sock)
        self.is_greeted = False
        self.is_leaving = False
        self.streams = {}

    def serve(self):
        try:
            while True:
                try:
                    self.read_some(0.01)
                except TimeoutError:
                    pass
                self.flow()
        except (Ended, ConnectionError):
            self.close()

    def result(self, id, value):
        self.send({"id": id, "result": value})

    def refuse(self, id, rpc, **data):
        error = {"code": rpc, "message": "refused"}
        self.send({"id": id, "error": {**error, "data": data} if data else error})

    def on_request(self, id, method, params):
        if method == "surface/hello":
            return self.hello(id, params)
        if not self.is_greeted:
            return self.refuse(id, -32000, kind="surface", code="PROTOCOL_MISMATCH")
        if method == "surface/ping":
            return self.result(id, None)
        if method == "surface/describe":
            return self.result(id, {"members": {key: MEMBERS[key] for key in params["members"] if key in MEMBERS}})
        if method not in ("surface/ask", "surface/follow"):
            return self.refuse(id, -32601)
        if self.is_leaving:
            return self.refuse(id, -32001)
        try:
            if method == "surface/follow":
                self.follow(id, **params)
            else:
                self.result(id, self.ask(**params))
        except Failed as failed:
            self.refuse(id, -32000, **failed.data)
        except TypeError:
            self.refuse(id, -32602)

    def on_notification(self, method, params):
        if method == "surface/credit" and params["stream"] in self.streams:
            self.streams[params["stream"]].credit += params["credit"]
        elif method == "$/cancelRequest":
            for id, stream in list(self.streams.items()):
                if stream.request == params["id"]:
                    self.end(id)
        elif method == "surface/goodbye":
            self.is_over = True

    def hello(self, id, params):
        if params["protocol"] != 1:
            return self.refuse(id, -32000, kind="surface", code="PROTOCOL_MISMATCH")
        if params["surface"] != "ci":
            return self.refuse(id, -32000, kind="surface", code="UNKNOWN_MEMBER")
        self.is_greeted = True
        members = {key: digest_of(MEMBERS[key]) for key in params["members"] if key in MEMBERS}
        self.result(id, {"protocol": 1, "surface": "ci", "heartbeatMs": 5000, "members": members})

    def ask(self, verb, member, argument=None, options=None, progress=None, caller=None):
        if member not in MEMBERS:
            raise Failed(kind="surface", code="UNKNOWN_MEMBER")
        use = (member, verb)
        if use == ("count", "get"):
            return {"value": STATE.count}
        if use == ("places", "keys"):
            return {"value": [{"value": key} for key in STATE.places]}
        if use == ("places", "item"):
            return {"value": STATE.places[argument]} if argument in STATE.places else {}
        if use == ("rang", "recent"):
            return {"value": {"cursor": "0", "occurrences": []}}
        if use == ("set", "call"):
            STATE.count = argument
            STATE.changes += 1
            return {}
        if use == ("run", "call"):
            return self.run(argument, progress, caller)
        raise Failed(kind="surface", code="WRONG_KIND")

    def run(self, argument, progress, caller):
        node = argument["node"]
        if node == "busy":
            raise Failed(kind="refusal", code="BUSY", message="a run is in progress", details={"run": 7})
        if node == "fault":
            raise Failed(kind="surface", code="INTERNAL", correlationId="log-1")
        if node == "who":
            return {"value": {"ok": caller is not None and caller["id"] == "ada"}}
        if node == "leave":
            self.is_leaving = True
            self.notify("surface/goodbye", {})
        if progress is not None:
            for done in (1, 2):
                self.notify("surface/progress", {"token": progress, "value": done})
        return {"value": {"ok": True}}

    def follow(self, id, verb, member, stream, credit, argument=None):
        if (member, verb) == ("count", "watch"):
            values = None
        elif (member, verb) == ("lines", "open"):
            values = iter(range(1, argument + 1))
        else:
            raise Failed(kind="surface", code="WRONG_KIND")
        self.streams[stream] = Stream(id, verb, values, credit)

    def flow(self):
        """Sends what streams have credit for."""
        for id, stream in list(self.streams.items()):
            if stream.values is None:
                if stream.credit > 0 and stream.seen != STATE.changes:
                    stream.seen = STATE.changes
                    self.item(id, stream, STATE.count)
                continue
            while stream.credit > 0 and id in self.streams:
                value = next(stream.values, None)
                if value is None:
                    self.end(id)
                else:
                    self.item(id, stream, value)

    def item(self, id, stream, value):
        stream.credit -= 1
        self.notify("surface/item", {"stream": id, "value": value})

    def end(self, id):
        self.result(self.streams.pop(id).request, {})


def main():
    path = sys.argv[1]
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.umask(0o177)
    listener.bind(path)
    listener.listen()
    print("listening", flush=True)
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=Server(sock).serve, daemon=True).start()


main()
