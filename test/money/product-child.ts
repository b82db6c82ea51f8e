/**
 * The product in a process of its own, so that SIGKILL ends it alone. It is the built server; around it are only Stripe's
 * time, a carrier that hands mails to the test, and the jobs at the moment that the test chooses.
 * `product-process.ts` starts it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Companion } from '../../server/companion.ts';
import type { Deps } from '../../server/deps.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import type { Answer, Order } from './product-process.ts';

/** Work of every five minutes of the machine's time, which tests do not wait for. */
const everyFiveMinutes: (() => void)[] = [];
const { setInterval } = globalThis;
globalThis.setInterval = Object.assign((...[run, ms, ...more]: Parameters<typeof setInterval>) => {
  if (ms === 5 * 60_000) everyFiveMinutes.push(() => run(...more));
  return setInterval(run, ms, ...more);
}, setInterval);

const { start } = await import('#start');

let movedMs = 0;
let isFirst = true;
let deps: Deps | undefined;
let runJobs: () => Promise<void> = async () => {};
const tell = (answer: Answer) => process.send?.(answer);

/**
 * Hands over every mail that waits, also those that wait for some seconds, or for another attempt because their process
 * was killed.
 * @returns the number of those that are left: another process has the lease of the outbox
 */
async function deliverMails(): Promise<number> {
  if (!deps) return 0;
  const { db } = deps.database;
  await db.updateTable('outbox').set({ nextAttemptAt: Date.now() }).where('state', '=', 'waiting').execute();
  await deps.outboxWorker.turn();
  const left = await db.selectFrom('outbox').select('id').where('state', '=', 'waiting').execute();
  return left.length;
}

/** The wait of these members is over, and the job finds that out. */
async function erase(addresses: string[]): Promise<void> {
  if (!deps) return;
  const { db } = deps.database;
  const emails = addresses.map(toNormalisedEmail);
  const due = db.updateTable('accountDeletions').set({ dueAt: Date.now() - 1 });
  await due.where('userId', 'in', db.selectFrom('users').select('id').where('email', 'in', emails)).execute();
  const left = db.selectFrom('users').select('email').where('email', 'in', emails);
  const asked = left.innerJoin('accountDeletions', 'accountDeletions.userId', 'users.id');
  for (;;) {
    // Another process may erase them between the two queries.
    const requests = await asked.execute();
    const members = await left.execute();
    if (members.length === 0) return;
    if (requests.length < members.length) throw new Error(`not all of ${addresses.join(', ')} have left`);
    // Again and again: a job that began before the wait was over does not find these members.
    for (const run of everyFiveMinutes) run();
    await sleep(50);
  }
}

const companion: Companion = {
  extend: ({ now }) => ({
    billingClock: { now: () => now() + movedMs, refresh: async () => {}, follow: () => () => {} },
    carriers: {
      mail: {
        name: 'test',
        async send(mail, { idempotencyKey }) {
          const text = 'text' in mail ? mail.text : '';
          const subject = 'subject' in mail ? mail.subject : '';
          tell({ kind: 'mail', mail: { key: idempotencyKey, to: mail.to, subject, text } });
        },
      },
    },
    routes: {
      access: {},
      add(_router, { runBillingJobs }) {
        runJobs = runBillingJobs;
      },
    },
  }),
  async prepare(opened) {
    deps = opened;
    // A process that was killed holds the locks of its members, which expire after ten seconds of the machine's time.
    if (isFirst) await opened.database.db.deleteFrom('leases').execute();
  },
  serve: async () => ({
    async foyerServes() {
      tell({ kind: 'serves' });
    },
    async close() {},
  }),
  readyLines: () => [],
};

process.on('message', async (order: Order) => {
  switch (order.kind) {
    case 'begin':
      ({ movedMs, isFirst } = order);
      Object.assign(process.env, order.variables);
      return start(companion);
    case 'clock':
      movedMs = order.movedMs;
      return tell({ kind: 'done', id: order.id });
    case 'jobs':
      await runJobs();
      return tell({ kind: 'done', id: order.id });
    case 'erase':
      await erase(order.emails);
      return tell({ kind: 'done', id: order.id });
    case 'mails':
      return tell({ kind: 'done', id: order.id, left: await deliverMails() });
  }
});
// The test has ended.
process.on('disconnect', () => process.exit());
tell({ kind: 'loaded' });
