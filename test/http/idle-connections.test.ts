import { Agent, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { drain, listen } from '../../server/process/listen.ts';

/** nginx closes an idle connection of `keepalive` after 60 seconds (keepalive_timeout of an upstream). */
const proxyIdleSeconds = 60;

describe('idle connections of a proxy', () => {
  async function open() {
    const server = await listen((_req, res) => res.end('ok'), { port: 0, host: '127.0.0.1' });
    const agent = new Agent({ keepAlive: true });
    const ask = () =>
      new Promise<{ keepAlive: string; reused: boolean }>((resolve, reject) => {
        const { port } = server.address() as AddressInfo;
        const request = get({ port, host: '127.0.0.1', agent }, (answer) => {
          answer.resume();
          const [keepAlive = ''] = [answer.headers['keep-alive']].flat();
          answer.on('end', () => resolve({ keepAlive, reused: request.reusedSocket }));
        });
        request.once('error', reject);
      });
    return { server, agent, ask };
  }

  it('Foyer keeps an idle connection longer than nginx does, so that no request meets a closed one', async () => {
    const { server, agent, ask } = await open();
    try {
      const [, seconds] = /^timeout=(\d+)$/.exec((await ask()).keepAlive) ?? [];
      expect(Number(seconds)).toBeGreaterThan(proxyIdleSeconds);
      expect((await ask()).reused).toBe(true);
    } finally {
      agent.destroy();
      server.close();
    }
  });

  it('A server that stops waits five seconds for one more request on idle connections, not a minute', async () => {
    const { server, agent, ask } = await open();
    await ask();
    const beganMs = performance.now();
    const drained = drain(server, { limitMs: 20_000, keepIdle: true });
    await drained;
    agent.destroy();
    const tookMs = performance.now() - beganMs;
    expect(tookMs).toBeGreaterThan(4_000);
    expect(tookMs).toBeLessThan(10_000);
  });
});
