#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Work for Python sockets: asyncio and blocking ones, server and client. It does not know SDP.

    work.py server ADDRESS PORT PORT2 FILE	asyncio at the first port, blocking at the second
    work.py async ADDRESS PORT		prints what must be the same with any sockets
    work.py block ADDRESS PORT2
    work.py dials ADDRESS PORT N MS		N connects at once; no other task of the program may
						wait for MS or longer

A connection to a server begins with one letter: with h the server returns a hash of the rest,
with e it echoes the rest, with f it sends FILE by sendfile.
"""
import asyncio
import hashlib
import random
import signal
import socket
import sys
import threading
import time

PATIENCE = 120


def noise(seed, size):
    return random.Random(seed).randbytes(size)


def sum_of(data):
    return hashlib.sha256(data).hexdigest()


# asyncio

async def serve_async(reader, writer, path):
    command = await reader.readexactly(1)
    if command == b"h":
        writer.write(sum_of(await reader.read()).encode())
    elif command == b"e":
        while data := await reader.read(20000):
            writer.write(data)
            await writer.drain()
    elif command == b"f":
        with open(path, "rb") as file:
            await asyncio.get_running_loop().sendfile(writer.transport, file, fallback=False)
    writer.close()
    await writer.wait_closed()


async def exchange(address, port, command, data):
    reader, writer = await asyncio.wait_for(asyncio.open_connection(address, port), PATIENCE)

    async def send():
        writer.write(command + data)
        await writer.drain()
        writer.write_eof()

    _, back = await asyncio.wait_for(asyncio.gather(send(), reader.read()), PATIENCE)
    writer.close()
    await writer.wait_closed()
    return back


async def hashed(address, port, seed, size):
    data = noise(seed, size)
    back = await exchange(address, port, b"h", data)
    assert back.decode() == sum_of(data), back
    return back.decode()


async def client_async(address, port):
    sums = await asyncio.gather(*(hashed(address, port, i, 1 << 19) for i in range(4)))
    print("bulk", *sums)
    data = [noise(i, 100 * i) for i in range(25)]
    back = await asyncio.gather(*(exchange(address, port, b"e", one) for one in data))
    print("many at once", back == data)
    print("a file", sum_of(await exchange(address, port, b"f", b"")))
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(b"e")
    try:
        await asyncio.wait_for(reader.read(1), 0.1)
    except asyncio.TimeoutError:
        print("nothing comes for a while")
    writer.write(b"last")
    print("and then", await asyncio.wait_for(reader.readexactly(4), PATIENCE))
    writer.close()


async def ticks(gaps):
    while True:
        before = time.monotonic()
        await asyncio.sleep(0.01)
        gaps.append(time.monotonic() - before)


async def dials(address, port, number, limit):
    gaps = []
    ticker = asyncio.create_task(ticks(gaps))
    start = time.monotonic()
    await asyncio.gather(*(hashed(address, port, i, 1000) for i in range(number)))
    took = int((time.monotonic() - start) * 1000)
    await asyncio.sleep(0.1)  # for the last gap to end
    ticker.cancel()
    longest = int(max(gaps) * 1000)
    print(f"{number} connects in {took} ms, at most {longest} ms waited", file=sys.stderr)
    assert longest < limit, f"all waited for {longest} ms"
    print("dials", number)


# blocking

def receive_all(conn):
    data = bytearray()
    while piece := conn.recv(50000):
        data += piece
    return bytes(data)


def serve_block(conn, path):
    with conn:
        command = conn.recv(1)
        if command == b"h":
            conn.sendall(sum_of(receive_all(conn)).encode())
        elif command == b"e":
            while data := conn.recv(20000):
                conn.sendall(data)
        elif command == b"f":
            with open(path, "rb") as file:
                conn.sendfile(file)


def accept_block(listener, path):
    while True:
        conn, _ = listener.accept()
        threading.Thread(target=serve_block, args=(conn, path), daemon=True).start()


def exchange_block(address, port, command, data):
    with socket.create_connection((address, port), PATIENCE) as conn:
        assert conn.getpeername()[:2] == (address, port), conn.getpeername()
        sender = threading.Thread(
            target=lambda: (conn.sendall(command + data), conn.shutdown(socket.SHUT_WR)))
        sender.start()
        back = receive_all(conn)
        sender.join()
        return back


def client_block(address, port):
    data = noise(1, 1 << 20)
    print("bulk", exchange_block(address, port, b"h", data).decode() == sum_of(data))
    print("echo", exchange_block(address, port, b"e", data) == data)
    print("a file", sum_of(exchange_block(address, port, b"f", b"")))
    with socket.create_connection((address, port), PATIENCE) as conn:
        conn.sendall(b"e")
        conn.settimeout(0.1)
        try:
            conn.recv(1)
        except socket.timeout:
            print("nothing comes for a while")
        conn.settimeout(PATIENCE)
        with conn.makefile("rwb") as lines:
            for i in range(50):
                lines.write(b"line %d\n" % i)
                lines.flush()
                assert lines.readline() == b"line %d\n" % i
        print("lines")


async def serve(address, port, port2, path):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.create_server((address, port2), family=family)
    threading.Thread(target=accept_block, args=(listener, path), daemon=True).start()
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
    async with await asyncio.start_server(lambda r, w: serve_async(r, w, path), address, port):
        await end.wait()


def main():
    what, address, port, *more = sys.argv[1:]
    port = int(port)
    if what == "server":
        asyncio.run(serve(address, port, int(more[0]), more[1]))
    elif what == "async":
        asyncio.run(client_async(address, port))
    elif what == "block":
        client_block(address, port)
    elif what == "dials":
        asyncio.run(dials(address, port, int(more[0]), int(more[1])))


main()
