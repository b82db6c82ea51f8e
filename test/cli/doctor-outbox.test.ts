import { judgeBacklog } from '../../server/cli/doctor/checks-services.ts';
import { readBacklog } from '../../server/messages/index.ts';
import { type NewRow, openDatabase } from '../../server/store/index.ts';
import { backends } from '../support/stores.ts';

const dayMs = 24 * 60 * 60_000;

describe.each(backends)('foyer doctor on the outbox on $name', (backend) => {
  it('Dead letters of the last day and late messages are warnings, with their number and age', async () => {
    const { urls, remove } = await backend.reserve({ migrated: true });
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    const nowMs = Date.now();
    const minute = 60_000;
    const message = (id: string, change: Partial<NewRow<'outbox'>>) => ({
      id,
      channel: 'mail' as const,
      template: 'welcome',
      recipient: '…@example.com',
      sealedPayload: null,
      state: 'waiting' as const,
      attempts: 1,
      createdAt: nowMs - 5 * minute,
      nextAttemptAt: nowMs + minute,
      groupPosition: 0,
      decoy: 0,
      ...change,
    });
    const insert = (...rows: ReturnType<typeof message>[]) => database.db.insertInto('outbox').values(rows).execute();
    const backlog = async () =>
      judgeBacklog({ ...(await readBacklog(database.db, nowMs)), nowMs }).map(({ id, level, seen }) => [
        id,
        level,
        seen,
      ]);
    try {
      await insert(
        message('young', {}),
        message('later', { attempts: 0, createdAt: nowMs - dayMs, nextAttemptAt: nowMs + dayMs }),
        message('decoy', { decoy: 1, createdAt: nowMs - dayMs }),
        message('old', { state: 'dead', finishedAt: nowMs - dayMs - minute }),
      );
      expect(await backlog()).toEqual([
        ['messages.dead', 'ok', expect.any(String)],
        ['messages.waiting', 'ok', expect.any(String)],
      ]);
      await insert(
        message('late', { createdAt: nowMs - 16 * minute }),
        message('later-still', { createdAt: nowMs - 180 * minute }),
        message('dead', { state: 'dead', finishedAt: nowMs - dayMs + minute }),
      );
      expect(await backlog()).toEqual([
        ['messages.dead', 'warning', '1 message was given up in the last 24 hours.'],
        ['messages.waiting', 'warning', '2 messages have waited for longer than 15 minutes, the oldest for 3 hours.'],
      ]);
    } finally {
      await database.close();
      await remove();
    }
  });
});
