"""The link protocol, version 1, as docs/LINK-PROTOCOL.md describes it: messages over a Unix socket."""

import hashlib
import json
import socket
import time

MAX_HEADER = 4 * 1024
MAX_MESSAGE = 16 * 1024 * 1024


class Ended(Exception):
    """The connection is over."""


class RpcError(Exception):
    """The error of an answer."""

    def __init__(self, error):
        super().__init__(error.get("message"))
        self.rpc = error["code"]
        self.data = error.get("data") or {}

    def report(self):
        return {"rpc": self.rpc, **self.data}


def frame(message):
    text = json.dumps(message, ensure_ascii=False).encode("utf-8")
    return b"Content-Length: %d\r\n\r\n" % len(text) + text


def hash_of(kind, parts):
    """Returns the hash of a member's contract."""
    text = kind + "\n"
    for name in sorted(parts):
        shape = json.dumps(parts[name], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        text += f"{name} {shape}\n"
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def digest_of(member):
    return {"kind": member["kind"], "hash": hash_of(member["kind"], member["parts"])}


class Wire:
    """One end of a connection: frames, requests and their answers. A subclass handles what comes in."""

    def __init__(self, sock):
        self.sock = sock
        self.buffer = b""
        self.last_id = 0
        self.answers = {}
        self.is_over = False

    def send(self, message):
        self.sock.sendall(frame({"jsonrpc": "2.0", **message}))

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def start(self, method, params):
        """Sends a request; returns its id."""
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        return self.last_id

    def request(self, method, params):
        return self.answer(self.start(method, params))

    def answer(self, id):
        """Waits for the answer to a request."""
        self.until(lambda: id in self.answers)
        message = self.answers.pop(id)
        if "error" in message:
            raise RpcError(message["error"])
        return message["result"]

    def until(self, is_so, seconds=10.0):
        """Reads messages until something is so."""
        end = time.monotonic() + seconds
        while not is_so():
            self.read_some(end - time.monotonic())

    def read_for(self, seconds):
        """Reads whatever comes within a time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                self.read_some(end - time.monotonic())
            except TimeoutError:
                return

    def read_some(self, seconds):
        if self.is_over:
            raise Ended()
        self.sock.settimeout(max(seconds, 0.001))
        chunk = self.sock.recv(65536)
        self.sock.settimeout(None)
        if not chunk:
            self.is_over = True
            raise Ended()
        self.buffer += chunk
        while self.take():
            pass

    def take(self):
        """Handles one whole message of the buffer."""
        head, separator, rest = self.buffer.partition(b"\r\n\r\n")
        if not separator:
            if len(head) > MAX_HEADER:
                raise Ended("a header is too long")
            return False
        fields = dict(line.split(b":", 1) for line in head.split(b"\r\n"))
        length = int({name.strip().lower(): value for name, value in fields.items()}[b"content-length"])
        if length > MAX_MESSAGE:
            raise Ended("a message is too long")
        if len(rest) < length:
            return False
        self.buffer = rest[length:]
        self.handle(json.loads(rest[:length].decode("utf-8")))
        return True

    def handle(self, message):
        if "method" not in message:
            self.answers[message["id"]] = message
        elif "id" in message:
            self.on_request(message["id"], message["method"], message.get("params"))
        else:
            self.on_notification(message["method"], message.get("params") or {})

    def on_request(self, id, method, params):
        raise NotImplementedError

    def on_notification(self, method, params):
        raise NotImplementedError

    def close(self):
        self.is_over = True
        self.sock.close()


def dial(path):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(10)
    sock.connect(path)
    return sock
