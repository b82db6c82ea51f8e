import { Option } from 'commander';
import { recordEntry } from '../audit/index.ts';
import {
  createGiftCode,
  findGift,
  findGiftById,
  type Gift,
  giftState,
  insertGift,
  listGifts,
  revokeGift,
  toGiftCodeHash,
} from '../billing/index.ts';
import { addMonths } from '../shared/index.ts';
import { billingClock } from './billing.ts';
import { type Program, parseNumber } from './command.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, refused } from './errors.ts';
import type { Result } from './io.ts';
import { counted, table } from './text.ts';

interface CreateOptions {
  plan: string;
  months: number;
  count: number;
  validMonths: number;
}

/** The plan that is to be given. @throws {CliError} refused */
function readGiven(context: Context, { plan: id, months }: CreateOptions) {
  if (context.config.STRIPE_SECRET_KEY === undefined)
    throw refused(['no plans are sold (STRIPE_SECRET_KEY is not set)']);
  const { gifts } = context.catalogue();
  if (!gifts) throw refused(['the catalogue has no gifts: see "gifts" in docs/plans.md']);
  const plan = gifts.plans.find((one) => one.id === id);
  const faults = [
    ...(plan ? [] : [`--plan: gifts are of ${gifts.plans.map((one) => one.id).join(', ')}`]),
    ...(gifts.months.includes(months) ? [] : [`--months: gifts are for ${gifts.months.join(', ')}`]),
  ];
  if (!plan || faults.length > 0) throw refused(faults);
  return plan;
}

async function createGifts(context: Context, options: CreateOptions): Promise<Result> {
  const plan = readGiven(context, options);
  const { months, count, validMonths } = options;
  const { database, config } = context;
  const nowMs = (await billingClock(context))();
  const expiresAt = addMonths(nowMs, validMonths);
  const gifts = await database.transaction(async (trx) => {
    const codes: { id: string; code: string; link: string }[] = [];
    while (codes.length < count) {
      const code = createGiftCode();
      const codeHash = toGiftCodeHash(code);
      if (codeHash === undefined) throw new Error('a code that was just made is none');
      const id = await insertGift(trx, { codeHash, planId: plan.id, months, expiresAt }, nowMs);
      codes.push({ id, code, link: `${config.PUBLIC_URL}/gift?code=${code}` });
    }
    const details = { gifts: count, plan: plan.id, months };
    await recordEntry(trx, { type: 'gift.created', details, atMs: context.now() });
    return codes;
  });
  const lines = [
    `${counted(count, 'code')} for ${plan.name} (${plan.id}), ${counted(months, 'month')} each, to be redeemed before ${new Date(expiresAt).toISOString()}.`,
    'They are shown this once:',
    '',
    ...gifts.map(({ link }) => link),
  ];
  return { json: { plan: plan.id, months, expiresAt, gifts }, text: lines.join('\n') };
}

const toRow = ({ id, planId, months, expiresAt, userId, endsAt }: Gift, state: string) => [
  id,
  planId,
  String(months),
  state,
  new Date(expiresAt).toISOString(),
  userId ?? '',
  endsAt === null ? '' : new Date(endsAt).toISOString(),
];

async function showGifts(context: Context, { limit }: { limit: number }): Promise<Result> {
  const nowMs = (await billingClock(context))();
  const gifts = (await listGifts(context.database.db, limit)).map((gift) => ({
    ...gift,
    state: giftState(gift, nowMs),
  }));
  const rows = gifts.map((gift) => toRow(gift, gift.state));
  return {
    json: gifts,
    text: table(['id', 'plan', 'months', 'state', 'redeem before', 'member', 'ends'], rows, 'No gifts yet.'),
  };
}

async function revoke(context: Context, named: string): Promise<Result> {
  const { database, now } = context;
  const codeHash = toGiftCodeHash(named);
  const gift = codeHash ? await findGift(database.db, codeHash) : await findGiftById(database.db, named);
  if (!gift) throw new CliError(exitCodes.notFound, 'There is no such gift.');
  const nowMs = (await billingClock(context))();
  const isRevoked = await database.transaction(async (trx) => {
    if (!(await revokeGift(trx, gift.id, nowMs))) return false;
    await recordEntry(trx, { type: 'gift.revoked', details: { gift: gift.id }, atMs: now() });
    return true;
  });
  if (!isRevoked) throw refused([`gift ${gift.id} is ${gift.revokedAt === null ? 'redeemed' : 'revoked'} already`]);
  return { json: { id: gift.id, revoked: true }, text: `Gift ${gift.id} is revoked: its code gives nothing any more.` };
}

const toLimit = parseNumber(1, 10_000);

export function giftCommands({ group }: Program): void {
  const add = group('gift', 'codes that give a paid plan for some months');
  add('create', {
    description: 'make codes, which are shown once',
    options: [
      new Option('--plan <ID>', 'the plan that they give').makeOptionMandatory(),
      new Option('--months <N>', 'for how long, from the day on which a code is redeemed')
        .argParser(parseNumber(1, 36))
        .makeOptionMandatory(),
      new Option('--count <N>', 'how many, 1 to 1000').argParser(parseNumber(1, 1_000)).default(1),
      new Option('--valid-months <N>', 'for how long they can be redeemed, 1 to 120 months')
        .argParser(parseNumber(1, 120))
        .default(12),
    ],
    json: 'print JSON: {"plan", "months", "expiresAt", "gifts": [{"id", "code", "link"}]}',
    help: '\nPlans and months are those of "gifts" in the catalogue. A code that you sell may have to be valid longer: see docs/plans.md.\n\nExample:\n  foyer gift create --plan 11 --months 12 --count 20',
    run: (options: CreateOptions) => (context) => createGifts(context, options),
  });
  add('list', {
    description: 'the newest gifts, without their codes',
    options: [new Option('--limit <N>', 'how many, 1 to 10000').argParser(toLimit).default(100)],
    json: 'print JSON',
    help: '\nExample:\n  foyer gift list --limit 20',
    run: (options: { limit: number }) => (context) => showGifts(context, options),
  });
  add('revoke', {
    description: 'end a code that is not redeemed',
    args: [['<gift>', 'its id, or the code']],
    json: 'print JSON: {"id", "revoked"}',
    help: '\nA plan that a member has already by a code goes on to its end.\n\nExample:\n  foyer gift revoke 019ac3f0-7c1e-7a53-9f0e-2b6d1f3c5a77',
    run: (gift: string) => (context) => revoke(context, gift),
  });
}
