import { open } from 'node:fs/promises';
import { InvalidArgumentError, Option } from 'commander';
import {
  type ChainPoint,
  type EventFilter,
  type EventType,
  eventTypes,
  type ListedEvent,
  listEvents,
  sealAll,
  toAuditKeys,
  verifyChain,
} from '../audit/index.ts';
import { toSha256 } from '../shared/index.ts';
import { type Program, parseNumber } from './command.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Result } from './io.ts';
import { counted, moment, numericDate, table } from './text.ts';
import { memberHelp, requireUserByName } from './user-records.ts';

const toKeys = ({ config }: Context) => toAuditKeys(config.SECRET_KEYS);

/** Appends all events until now to the chain, also if no Foyer is running. */
const sealNow = (context: Context) => sealAll(context.database, toKeys(context), context.now());

interface FilterOptions {
  member?: string;
  type?: EventType;
  since?: number;
  until?: number;
}

async function toFilter(context: Context, { member, type, since, until }: FilterOptions) {
  const userId = member === undefined ? undefined : (await requireUserByName(context, member)).id;
  return { userId, type, sinceMs: since, untilMs: until };
}

function toJson({ seq, hash, id, at, ...event }: ListedEvent) {
  return { seq, id, at: numericDate(at), at_ms: at, ...event, hash };
}

const actorText = ({ actor }: ListedEvent) => (actor.kind === 'operator' ? `operator ${actor.name}` : actor.kind);

const detailText = ({ details }: ListedEvent) =>
  Object.entries(details)
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : String(value)}`)
    .join(' ');

async function showEvents(context: Context, { limit, ...options }: FilterOptions & { limit: number }): Promise<Result> {
  await sealNow(context);
  const events = await listEvents(context.database.db, { ...(await toFilter(context, options)), limit });
  const rows = events.map((event) => [
    String(event.seq),
    moment(event.at),
    event.type,
    actorText(event),
    event.member ?? (event.erased ? 'erased' : ''),
    event.client ?? '',
    [event.device, event.address].filter(Boolean).join(', '),
    detailText(event),
  ]);
  const headings = ['no', 'time', 'type', 'actor', 'member', 'client', 'from', 'details'];
  return { json: events.map(toJson), text: table(headings, rows, 'No such events.') };
}

const anchorText = ({ seq, chainHash }: ChainPoint) => `${seq}:${chainHash}`;

async function verify(context: Context, { anchor }: { anchor?: ChainPoint }): Promise<Result> {
  await sealNow(context);
  const report = await verifyChain(context.database.db, toKeys(context), anchor);
  if (report.kind === 'broken') {
    const { seq, id, fault } = report;
    return {
      json: { intact: false, seq, id, fault },
      text: `The audit trail is broken at event ${seq}${id === null ? '' : ` (${id})`}: ${fault}.`,
      error: new CliError(exitCodes.refused, 'The audit trail is not intact.'),
    };
  }
  const { events, erased, first, head } = report;
  return {
    json: { intact: true, events, erased, first, head: anchorText(head) },
    text: `The audit trail is intact: ${counted(events, 'event')} from number ${first}, ${erased} of them without the data of erased members.\nHead, to keep elsewhere and give to --anchor: ${anchorText(head)}`,
  };
}

const pageRows = 1_000;

/** All events in the order of the chain would need them in memory: they are written the newest first, page by page. */
async function exportEvents(context: Context, { out, ...options }: FilterOptions & { out: string }): Promise<Result> {
  await sealNow(context);
  const filter: Omit<EventFilter, 'limit'> = await toFilter(context, options);
  // The events are personal data: only the owner of the file reads it, and no file is overwritten.
  const file = await open(out, 'wx', 0o600);
  let written = 0;
  let before: number | undefined;
  try {
    for (;;) {
      const events = await listEvents(context.database.db, { ...filter, before, limit: pageRows });
      await file.writeFile(events.map((event) => `${JSON.stringify(toJson(event))}\n`).join(''));
      written += events.length;
      before = events.at(-1)?.seq ?? undefined;
      if (events.length < pageRows) break;
    }
  } finally {
    await file.close();
  }
  return { json: { events: written, file: out }, text: `${counted(written, 'event')} written to ${out}.` };
}

function parseTime(text: string): number {
  const at = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('Write a day or a time in UTC, as in 2026-11-24T09:30Z.');
  return at;
}

function parseType(text: string): EventType {
  const type = eventTypes.find((known) => known === text);
  if (!type) throw new InvalidArgumentError(`Write ${eventTypes.join(', ')}.`);
  return type;
}

function parseAnchor(text: string): ChainPoint {
  const [, seq, hash] = /^([1-9]\d{0,14}):([\w-]{43})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) throw new InvalidArgumentError('Write the number and hash of a head.');
  return { seq: Number(seq), chainHash: toSha256(hash) };
}

const filters = () => [
  new Option('--member <MEMBER>', `only events about this member: ${memberHelp}`),
  new Option('--type <TYPE>', 'only events of this type').argParser(parseType),
  new Option('--since <TIME>', 'not before this day or time (UTC)').argParser(parseTime),
  new Option('--until <TIME>', 'before this day or time (UTC)').argParser(parseTime),
];

export function auditCommands({ group }: Program): void {
  const add = group('audit', 'the audit trail: sign-ins, changes, payments and commands');
  add('list', {
    description: 'events, the newest first',
    options: [
      ...filters(),
      new Option('--limit <N>', 'at most so many, up to 1000').argParser(parseNumber(1, 1_000)).default(50),
    ],
    json: 'print JSON; times in seconds since the epoch',
    help: `\nTypes: ${eventTypes.join(', ')}.\n\nExample:\n  foyer audit list --member ada@example.com --since 2026-11-01`,
    run: (options: FilterOptions & { limit: number }) => (context) => showEvents(context, options),
  });
  add('verify', {
    description: 'check that no event was changed, inserted, reordered or deleted',
    options: [
      new Option(
        '--anchor <HEAD>',
        'a head that an earlier run or the log (act=audit-head) has named: shows a trail that was rewound',
      ).argParser(parseAnchor),
    ],
    json: 'print JSON: {"intact", "events", "erased", "first", "head"} or {"intact", "seq", "id", "fault"}',
    help: '\nExit code 1, with the first broken event, if the trail is not intact.\n\nExample:\n  foyer audit verify',
    run: (options: { anchor?: ChainPoint }) => (context) => verify(context, options),
  });
  add('export', {
    description: 'write events to a new file as JSON Lines, the newest first',
    options: [...filters(), new Option('--out <FILE>', 'the file, which must not exist').makeOptionMandatory()],
    json: 'print JSON: {"events", "file"}',
    help: '\nThe file contains personal data.\n\nExample:\n  foyer audit export --out /srv/foyer/data/audit.jsonl --since 2026-01-01',
    run: (options: FilterOptions & { out: string }) => (context) => exportEvents(context, options),
  });
}
