import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { mediaFiles } from '../../server/http/index.ts';
import { listen } from '../../server/process/listen.ts';
import { waitFor } from '../support/wait-for.ts';

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
const opened = (port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
const closed = (socket: Socket) =>
  new Promise<void>((resolve) => (socket.destroyed ? resolve() : socket.once('close', () => resolve())));
/** Opens a connection, keeps it open, and sends a request. */
async function asked(port: number): Promise<{ socket: Socket; outcome: 'answered' | 'closed' }> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const outcome = await Promise.race([
    new Promise<'answered'>((resolve) => socket.once('data', () => resolve('answered'))),
    closed(socket).then(() => 'closed' as const),
  ]);
  return { socket, outcome };
}

describe('connections that are held open', () => {
  it('Connections beyond the maximum are closed, and one that ends makes room', async () => {
    const server = await listen((_req, res) => res.end('ok'), { port: 0, host: '127.0.0.1', maxConnections: 2 });
    try {
      const port = portOf(server);
      const [one, two, three] = [await asked(port), await asked(port), await asked(port)];
      expect([one.outcome, two.outcome, three.outcome]).toEqual(['answered', 'answered', 'closed']);
      one.socket.destroy();
      await waitFor(async () => expect((await asked(port)).outcome).toBe('answered'));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('A half-sent head is cut off within 21 seconds', async () => {
    const server = await listen((_req, res) => res.end('ok'), { port: 0, host: '127.0.0.1' });
    try {
      const socket = await opened(portOf(server));
      const began = performance.now();
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
      socket.resume();
      await closed(socket);
      expect(performance.now() - began).toBeLessThan(23_000);
    } finally {
      server.close();
    }
  });

  it('A reader who stops reading a picture is disconnected, and a slow reader gets all of it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'foyer-slow-'));
    const png = Buffer.from('89504e470d0a1a0a', 'hex');
    const whole = 9_500_000;
    writeFileSync(join(dir, 'large.png'), Buffer.concat([png, Buffer.alloc(whole - png.length)]));
    const stallMs = 1_000;
    const server = createServer(express().use(mediaFiles(dir, { stallMs })));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const ask = async () => {
      const socket = await opened(portOf(server));
      socket.write('GET /large.png HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      return socket;
    };
    try {
      const stopped = await ask();
      stopped.pause();
      const connections = () => new Promise<number>((resolve) => server.getConnections((_error, n) => resolve(n)));
      await waitFor(async () => expect(await connections()).toBe(0), 10_000);
      stopped.destroy();

      const slow = await ask();
      let got = 0;
      // The whole answer takes longer than the limit of one standstill.
      slow.on('data', (chunk) => {
        got += chunk.length;
        slow.pause();
        setTimeout(() => slow.resume(), 15);
      });
      await closed(slow);
      expect(got).toBeGreaterThan(whole);
    } finally {
      server.closeAllConnections();
      server.close();
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
