// SPDX-License-Identifier: GPL-2.0

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * Work for Java sockets: java.net and java.nio, server and client. It does not know SDP.
 *
 *	Work server ADDRESS PORT PORT2		NIO at the first port, java.net at the second
 *	Work client ADDRESS PORT PORT2 FILE	prints what must be the same with any sockets
 *
 * A server echoes its input until the end.
 */
public class Work {
	static final int PATIENCE = 120_000;

	static byte[] noise(long seed, int size) {
		byte[] data = new byte[size];
		new Random(seed).nextBytes(data);
		return data;
	}

	static String sum(byte[] data) throws Exception {
		return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
	}

	static void need(boolean is, String what) {
		if (!is)
			throw new AssertionError(what);
	}

	// java.net

	static void answer(Socket socket) {
		byte[] piece = new byte[20000];
		try (socket) {
			InputStream in = socket.getInputStream();
			OutputStream out = socket.getOutputStream();
			for (int n; (n = in.read(piece)) >= 0; )
				out.write(piece, 0, n);
		} catch (IOException e) {
			System.err.println("answer: " + e);
		}
	}

	static void accept(ServerSocket listener) {
		try {
			while (true) {
				Socket socket = listener.accept();
				new Thread(() -> answer(socket)).start();
			}
		} catch (IOException e) {
			System.err.println("accept: " + e);
		}
	}

	static byte[] exchange(InetSocketAddress to, byte[] data) throws Exception {
		try (Socket socket = new Socket()) {
			socket.setTcpNoDelay(true);
			socket.setKeepAlive(true);
			socket.setSoTimeout(PATIENCE);
			socket.connect(to, PATIENCE);
			need(socket.getRemoteSocketAddress().equals(to), "the peer's address");
			need(socket.getTcpNoDelay() && socket.getKeepAlive(), "options");
			Thread sender = new Thread(() -> {
				try {
					socket.getOutputStream().write(data);
					socket.shutdownOutput();
				} catch (IOException e) {
					System.err.println("send: " + e);
				}
			});
			sender.start();
			byte[] back = socket.getInputStream().readAllBytes();
			sender.join();
			return back;
		}
	}

	static void timeOut(InetSocketAddress to) throws Exception {
		try (Socket socket = new Socket(to.getAddress(), to.getPort())) {
			socket.setSoTimeout(100);
			try {
				socket.getInputStream().read();
				need(false, "something came");
			} catch (SocketTimeoutException e) {
				System.out.println("nothing comes for a while");
			}
			socket.setSoTimeout(PATIENCE);
			socket.getOutputStream().write(7);
			System.out.println("and then " + socket.getInputStream().read());
		}
	}

	// java.nio

	/**
	 * Data that was received and not sent back yet.
	 */
	static class Echo {
		final ByteBuffer held = ByteBuffer.allocateDirect(30000);
		boolean ended;

		/**
		 * Does what is possible without blocking; false when finished.
		 */
		boolean turn(SocketChannel channel, SelectionKey key) throws IOException {
			if (key.isReadable() && channel.read(held) < 0)
				ended = true;
			held.flip();
			channel.write(held);
			boolean more = held.hasRemaining();
			held.compact();
			if (ended && !more)
				return false;
			key.interestOps((more ? SelectionKey.OP_WRITE : 0) |
					(ended || !held.hasRemaining() ? 0 : SelectionKey.OP_READ));
			return true;
		}
	}

	static void serve(ServerSocketChannel listener) throws IOException {
		Selector selector = Selector.open();
		listener.configureBlocking(false);
		listener.register(selector, SelectionKey.OP_ACCEPT);
		while (true) {
			selector.select(key -> {
				try {
					if (key.isAcceptable()) {
						SocketChannel channel = listener.accept();
						if (channel == null)
							return;
						channel.configureBlocking(false);
						channel.register(selector, SelectionKey.OP_READ, new Echo());
					} else if (!((Echo) key.attachment()).turn((SocketChannel) key.channel(), key)) {
						key.channel().close();
					}
				} catch (IOException e) {
					System.err.println("serve: " + e);
					key.cancel();
				}
			});
		}
	}

	/**
	 * One of many connections: connects, sends all, reads until the end; never blocks.
	 */
	static class Call {
		final ByteBuffer out, in;

		Call(byte[] data) {
			out = ByteBuffer.wrap(data);
			in = ByteBuffer.allocate(data.length + 1);
		}

		boolean turn(SocketChannel channel, SelectionKey key) throws IOException {
			if (key.isConnectable()) {
				if (!channel.finishConnect())
					return true;
				key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
			}
			if (key.isValid() && key.isWritable()) {
				channel.write(out);
				if (!out.hasRemaining()) {
					channel.shutdownOutput();
					key.interestOps(SelectionKey.OP_READ);
				}
			}
			return !key.isReadable() || channel.read(in) >= 0;
		}

		void check() {
			need(in.flip().equals(out.flip()), "other bytes come back");
		}
	}

	static void calls(InetSocketAddress to, int number, int size) throws Exception {
		Selector selector = Selector.open();
		List<Call> calls = new ArrayList<>();
		for (int i = 0; i < number; i++) {
			SocketChannel channel = SocketChannel.open();
			channel.configureBlocking(false);
			Call call = new Call(noise(i, size + i));
			calls.add(call);
			channel.register(selector, channel.connect(to) ?
					 SelectionKey.OP_READ | SelectionKey.OP_WRITE :
					 SelectionKey.OP_CONNECT, call);
		}
		for (int left = number; left > 0; ) {
			need(selector.select(PATIENCE) > 0, left + " calls are left");
			for (SelectionKey key : selector.selectedKeys()) {
				if (!((Call) key.attachment()).turn((SocketChannel) key.channel(), key)) {
					key.channel().close();
					left--;
				}
			}
			selector.selectedKeys().clear();
		}
		calls.forEach(Call::check);
	}

	/**
	 * Uploads a file by transferTo, which is sendfile, and downloads it by transferFrom.
	 */
	static void file(InetSocketAddress to, Path path, Path copy) throws Exception {
		try (SocketChannel channel = SocketChannel.open(to);
		     FileChannel from = FileChannel.open(path);
		     FileChannel into = new FileOutputStream(copy.toFile()).getChannel()) {
			Thread sender = new Thread(() -> {
				try {
					for (long at = 0; at < from.size(); )
						at += from.transferTo(at, from.size() - at, channel);
					channel.shutdownOutput();
				} catch (IOException e) {
					System.err.println("transferTo: " + e);
				}
			});
			sender.start();
			for (long at = 0, n; (n = into.transferFrom(channel, at, 1 << 20)) > 0; )
				at += n;
			sender.join();
		}
		System.out.println("file " + sum(Files.readAllBytes(copy)));
		need(Files.mismatch(path, copy) < 0, "another file comes back");
	}

	static void client(InetSocketAddress nio, InetSocketAddress net, Path path) throws Exception {
		byte[] data = noise(1, 1 << 20);
		System.out.println("java.net " + Arrays.equals(data, exchange(net, data)));
		System.out.println("java.net to NIO " + Arrays.equals(data, exchange(nio, data)));
		timeOut(net);
		calls(net, 1, 1 << 20);
		calls(nio, 20, 10000);
		System.out.println("calls");
		file(nio, path, path.resolveSibling("copy"));
	}

	public static void main(String[] args) throws Exception {
		InetAddress address = InetAddress.getByName(args[1]);
		InetSocketAddress nio = new InetSocketAddress(address, Integer.parseInt(args[2]));
		InetSocketAddress net = new InetSocketAddress(address, Integer.parseInt(args[3]));
		if (args[0].equals("server")) {
			ServerSocket blocking = new ServerSocket();
			blocking.bind(net, 50);
			new Thread(() -> accept(blocking)).start();
			serve(ServerSocketChannel.open().bind(nio, 50));
		} else {
			client(nio, net, Path.of(args[4]));
		}
	}
}
