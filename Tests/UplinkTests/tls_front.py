#!/usr/bin/env python3
"""TLS in front of a plain port of this machine: what TLSFront.swift starts.

    tls_front.py CERTIFICATE KEY UPSTREAM_PORT [CLIENT_AUTHORITY]

Prints its port, then serves until its input ends. With CLIENT_AUTHORITY a client has to show a certificate of it.
"""

import os
import socket
import ssl
import sys
import threading


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def drain(raw):
    """Closing over unread data would reset the connection, and the alert that says why would be lost."""
    try:
        raw.shutdown(socket.SHUT_WR)
        raw.settimeout(10)
        while raw.recv(65536):
            pass
    except OSError:
        pass
    raw.close()


def serve(raw, context, port):
    try:
        client = context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
    except OSError:
        raw.close()
        return
    try:
        client.do_handshake()
        server = socket.create_connection(("127.0.0.1", port))
    except OSError:
        drain(socket.socket(fileno=client.detach()))
        return
    threading.Thread(target=pump, args=(server, client), daemon=True).start()
    pump(client, server)


def main():
    certificate, key, port, *authority = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if authority:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority[0])
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    while True:
        raw, _ = listener.accept()
        threading.Thread(target=serve, args=(raw, context, int(port)), daemon=True).start()


main()
