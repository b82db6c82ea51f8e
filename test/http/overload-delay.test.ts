import { admitRequests, type Load } from '../../server/http/direct-dispatcher.ts';
import { findRefusal } from '../../server/http/overload.ts';
import { send } from '../attacks/wire.ts';
import { listenOnFreePort } from '../support/foyer.ts';

const limits = { requests: 1_000, turnMs: 50 };
const workMs = 5;
const sent = 640;

/** Uses the processor: nothing else runs meanwhile. */
function work(): void {
  const untilMs = performance.now() + workMs;
  while (performance.now() < untilMs);
}

describe('requests that each block the process', () => {
  const loads: Load[] = [];
  const listener = admitRequests(
    (_req, res) => {
      work();
      res.end();
    },
    {
      calm: { inProgress: 600, turnMs: limits.turnMs, passwords: 20 },
      passwordQueue: () => ({ waiting: 0 }),
      refusesPassword: () => false,
      refuses(_req, res, load) {
        if (findRefusal('visit', load, limits) === undefined) return false;
        loads.push({ ...load });
        res.writeHead(503).end();
        return true;
      },
    },
  );
  const askAll = async (port: number, count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => send(port, '/')));
    const served = answers.filter(({ status }) => status === 200).length;
    return { served, refused: count - served };
  };

  it('A part of many at once is refused by the delay, the others are served, and afterwards all are', async () => {
    const { server, port } = await listenOnFreePort(listener);
    try {
      const flood = await askAll(port, sent);
      expect(flood.served).toBeGreaterThanOrEqual(20);
      expect(flood.refused).toBeGreaterThan(0);
      for (const { turnMs, admittedInTurn } of loads) {
        expect(turnMs).toBeGreaterThanOrEqual(limits.turnMs);
        expect(admittedInTurn).toBeGreaterThanOrEqual(20);
      }
      expect(await askAll(port, 15)).toEqual({ served: 15, refused: 0 });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('Few requests are served, however long they take', async () => {
    const { server, port } = await listenOnFreePort(listener);
    try {
      for (let round = 0; round < 3; round += 1) expect(await askAll(port, 19)).toEqual({ served: 19, refused: 0 });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
