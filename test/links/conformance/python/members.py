"""The members of the surface "ci" that both ends of the conformance tests know, and the shapes of their parts."""

NUMBER = {"type": "number"}
TEXT = {"type": "string"}


def record(closed=False, **fields):
    shape = {"type": "object", "properties": fields, "required": sorted(fields)}
    return {**shape, "additionalProperties": False} if closed else shape


MEMBERS = {
    "count": {"kind": "cell", "parts": {"value": NUMBER}},
    "places": {"kind": "collection", "parts": {"argument": TEXT, "key": TEXT, "value": NUMBER}},
    "lines": {"kind": "stream", "parts": {"argument": NUMBER, "value": NUMBER}},
    "rang": {"kind": "event", "parts": {"value": TEXT}},
    "run": {
        "kind": "procedure",
        "parts": {
            "argument": record(node=TEXT),
            "value": record(closed=True, ok={"type": "boolean"}),
            "progress": NUMBER,
            "errors.BUSY": record(closed=True, run=NUMBER),
        },
    },
    "set": {"kind": "procedure", "parts": {"argument": NUMBER}},
}
