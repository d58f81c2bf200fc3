"""A stock python-socketio client: connects, subscribes, and prints each event as a line of JSON until enough have come."""

import json
import sys
import threading

import socketio

url, namespace, auth, subscription, event, count = sys.argv[1:7]
left = int(count)
# Handlers run on threads of their own.
printing = threading.Lock()
client = socketio.Client(reconnection=False)


def show(name, payload):
    with printing:
        print(json.dumps({"name": name, "payload": payload}), flush=True)


@client.on("connect", namespace=namespace)
def connected():
    show("connect", None)
    client.emit("subscribe", json.loads(subscription), namespace=namespace)


@client.on("*", namespace=namespace)
def received(name, payload):
    global left
    show(name, payload)
    if name == event:
        left -= 1
        if left == 0:
            client.disconnect()


@client.on("error", namespace=namespace)
def refused(payload):
    show("error", payload)


client.connect(
    url, namespaces=[namespace], transports=["websocket"], auth=json.loads(auth), wait_timeout=10
)
client.wait()
