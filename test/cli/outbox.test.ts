import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentDeliveryError } from '../../server/messages/index.ts';
import { mail, notice, outboxSetup, type Setup } from '../messages/outbox-setup.ts';
import { type Cli, cliOn } from '../support/cli.ts';
import { backends, type OpenStores } from '../support/stores.ts';

describe.each(backends)('foyer outbox on $name', (backend) => {
  let stores: OpenStores;
  let setup: Setup;
  let foyer: Cli;
  let ids: { waiting: string; delivered: string; dead: string; expired: string };
  beforeEach(async () => {
    stores = await backend.open();
    setup = outboxSetup(stores);
    foyer = cliOn(stores.urls, {}, setup.now);
    const delivered = await setup.add(notice('delivered'));
    setup.pass(1);
    const expired = await setup.add(mail('late@example.com', { expiresAtMs: setup.now() }));
    setup.pass(1);
    const dead = await setup.add(mail('ada@example.com'));
    setup.pass(1);
    await setup
      .worker(async (message) => {
        if (message.channel === 'mail')
          throw new PermanentDeliveryError('SMTP: 550 <ada@example.com>: \u001b[31mno such mailbox');
      })
      .turn();
    ids = { waiting: await setup.add(mail('grace@example.com')), delivered, dead, expired };
  });
  afterEach(() => stores?.destroy());

  it('Listing shows the newest message first, masked, with the reason of each failure and without its content', async () => {
    const list = await foyer('outbox', 'list');
    expect(list.code).toBe(0);
    const lines = list.out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^ID +WRITTEN +WHAT +TO +STATE +ATTEMPTS +LAST ERROR$/);
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual([
      ids.waiting,
      ids.dead,
      ids.expired,
      ids.delivered,
    ]);
    expect(lines[2]).toMatch(
      /mail: verify-email +a…@example\.com +dead +1 +SMTP: 550 <…@example\.com>: \[31mno such mailbox$/,
    );
    expect(list.out).not.toMatch(/123456|Ada|ada@/);
    expect(list.out).not.toContain('\u001b');
    const json = await foyer('outbox', 'list', '--state', 'dead', '--limit', '1', '--json');
    expect(json.json()).toEqual([
      expect.objectContaining({ id: ids.dead, state: 'dead', attempts: 1, retriable: true, next_attempt_at: null }),
    ]);
    expect(json.out).not.toMatch(/123456|Ada|sealed|ada@/);
    expect((await foyer('outbox', 'list', '--state', 'delivered', '--json')).json()).toHaveLength(1);
  });

  it('Retrying sends dead letters again, one or all, and no other messages', async () => {
    for (const id of [ids.waiting, ids.delivered, ids.expired, 'unknown-id']) {
      expect(await foyer('outbox', 'retry', id)).toMatchObject({ code: 3, err: expect.stringContaining(id) });
    }
    expect((await foyer('outbox', 'retry', ids.dead)).out).toBe(
      '1 message waits again: a running Foyer tries within seconds.\n',
    );
    const sent: string[] = [];
    await setup.worker(async (message) => void (message.channel === 'mail' && sent.push(message.to))).turn();
    expect(sent.sort()).toEqual(['ada@example.com', 'grace@example.com']);
    expect(await setup.row(ids.dead)).toMatchObject({ state: 'delivered', attempts: 1, lastError: null });
    expect((await foyer('outbox', 'retry', '--all-dead', '--json')).json()).toEqual({ retried: 0 });
  });
});

describe('a wrong command line', () => {
  // It opens no store: the folder is not there.
  const foyer = cliOn({ databaseUrl: '', redisUrl: '', dataDir: join(tmpdir(), 'foyer-cli-outbox', 'nowhere') });

  it.each([[[]], [['x', '--all-dead']]])('The command retry with %j is a wrong command line', async (argv) => {
    expect(await foyer('outbox', 'retry', ...argv)).toMatchObject({ code: 2, out: '' });
  });

  it.each([
    ['--state', 'lost'],
    ['--limit', '0'],
    ['--limit', '1001'],
  ])('The command list with %s %s is a wrong command line', async (...argv) => {
    expect(await foyer('outbox', 'list', ...argv)).toMatchObject({ code: 2, out: '' });
  });
});
