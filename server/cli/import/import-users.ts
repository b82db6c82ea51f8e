import { stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { listErasedUsers } from '../../account/index.ts';
import { isSmsOffered, toHashing } from '../../deps.ts';
import { loadLegalTexts } from '../../load-settings.ts';
import { createPasswordHasher, type PasswordHasher } from '../../password/index.ts';
import { createDigestSet, type DigestSet } from '../../shared/index.ts';
import {
  type ImportOutcome,
  insertImportedUsers,
  listWithheldFields,
  rehearseImport,
  textsPerUser,
} from '../../users/index.ts';
import type { Context } from '../context.ts';
import { CliError, exitCodes, refused } from '../errors.ts';
import type { Result } from '../io.ts';
import { present, printable } from '../text.ts';
import { openImportTrials, type StartTrials } from '../trials.ts';
import { type Links, type LinkTarget, openLinks, type WholeRow } from './links.ts';
import { createProgress, whole } from './progress.ts';
import { readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { listKnownNames, type ReadMember, type ReadSettings, readMember, weakHashText } from './read-member.ts';
import {
  linkedElsewhereText,
  openReport,
  type Remark,
  type Report,
  refusalTexts,
  withoutPhoneText,
  withoutUsernameText,
} from './report.ts';
import type { SourceRow } from './source.ts';

/** The options from commander. */
export interface ImportOptions {
  format?: 'csv' | 'json';
  dryRun?: boolean;
  report?: string;
  verified?: boolean;
  ignoreHashes?: boolean;
  /** NAME=id: the other service's name of a provider, and its id in PROVIDERS_FILE. */
  provider?: readonly string[];
  /** Wraps each weak hash in one of Foyer's own. */
  wrapWeakHashes?: boolean;
  trial?: boolean;
  /** For a program, which gets only the result. */
  json?: boolean;
}

/** One transaction each: large enough to be fast, small enough not to block a running Foyer. */
const batchSize = 100;
/** Printed at once; the report has all of them. */
const maxShown = 20;
const maxNames = 50;

type RowSource = (onBytes: (read: number) => void) => AsyncGenerator<SourceRow>;

function rowSourceFor(file: string, format: ImportOptions['format']): RowSource {
  const isJson = (format ?? (/^\.(json|ndjson|jsonl)$/i.test(extname(file)) ? 'json' : 'csv')) === 'json';
  return (onBytes) => (isJson ? readJson(file, onBytes) : readCsv(file, onBytes));
}

/** Reads the whole file before anything is written: a file of another format changes nothing. */
async function survey(rows: RowSource, knownNames: ReadonlySet<string>): Promise<{ total: number; ignored: string[] }> {
  const ignored = new Set<string>();
  let total = 0;
  for await (const { values } of rows(() => {})) {
    total += 1;
    if (ignored.size < maxNames) for (const name of values.keys()) if (!knownNames.has(name)) ignored.add(name);
  }
  return { total, ignored: [...ignored].map((name) => printable(name.slice(0, 60))) };
}

interface ReadRow {
  line: number;
  read: ReadMember;
}

interface ImportRules {
  /** In a rehearsal: the users that would exist by now, and their identities. */
  earlier: DigestSet | undefined;
  links: Links;
  startTrials: StartTrials | undefined;
}

class Import {
  readonly counts = {
    rows: 0,
    added: 0,
    there: 0,
    refused: 0,
    notes: 0,
    /** Number of added users without a password. */
    withoutPassword: 0,
    /** Number of added users with a hash below the minimum work. */
    weakHashes: 0,
    /** Number of linked identities. */
    linked: 0,
  };
  readonly rows: string[] = [];
  readonly #context: Context;
  readonly #report: Report;
  readonly #rules: ImportRules;

  constructor(context: Context, report: Report, rules: ImportRules) {
    this.#context = context;
    this.#report = report;
    this.#rules = rules;
  }

  async take(batch: readonly ReadRow[]): Promise<void> {
    const whole = batch.flatMap(({ read }) => ('member' in read ? [read] : []));
    const coming = whole.map(({ member }) => member);
    const { database, now } = this.#context;
    const { earlier, links, startTrials } = this.#rules;
    const settings = { nowMs: now(), listErasedUsers };
    const withLinks = async (outcomes: ImportOutcome[], target: LinkTarget) => ({
      outcomes,
      taken: await links.link(whole, outcomes, target),
    });
    const { outcomes, taken } = earlier
      ? await withLinks(await rehearseImport(database.db, coming, { ...settings, earlier }), { earlier })
      : await database.transaction(async (trx) => {
          const added = await insertImportedUsers(trx, coming, settings);
          await startTrials?.(trx, coming, added);
          return withLinks(added, { trx });
        });
    let next = 0;
    const remarks = batch.flatMap(({ line, read }) => {
      if ('member' in read) {
        const outcome = outcomes[next] as ImportOutcome;
        next += 1;
        return this.#count(line, read, { ...outcome, taken: taken.get(read.member.id) ?? 0 });
      }
      this.counts.refused += 1;
      return [{ line, id: read.id, kind: 'refused' as const, why: read.refused }];
    });
    this.counts.rows += batch.length;
    for (const { line, id, kind, why } of remarks) {
      if (kind === 'refused' && this.rows.length < maxShown)
        this.rows.push(`line ${line}${id ? ` (${id})` : ''}: ${why}`);
    }
    await this.#report.add(remarks);
  }

  #count(line: number, { member, notes, identities }: WholeRow, outcome: ImportOutcome & { taken: number }): Remark[] {
    const { id } = member;
    if (outcome.kind === 'there') {
      this.counts.there += 1;
      return [];
    }
    if (outcome.kind === 'refused') {
      this.counts.refused += 1;
      return [{ line, id, kind: 'refused', why: refusalTexts[outcome.why] }];
    }
    this.counts.added += 1;
    if (member.passwordHash === null) this.counts.withoutPassword += 1;
    const { taken, withoutPhone, withoutUsername } = outcome;
    this.counts.linked += identities.length - taken;
    const isWeak = notes.includes(weakHashText);
    if (isWeak) this.counts.weakHashes += 1;
    const elsewhere = Array.from({ length: taken }, () => linkedElsewhereText);
    const left = [...(withoutPhone ? [withoutPhoneText] : []), ...(withoutUsername ? [withoutUsernameText] : [])];
    const all = [...notes, ...elsewhere, ...left];
    // Weak hashes are imported; the report names their rows.
    this.counts.notes += all.length - (isWeak ? 1 : 0);
    return all.map((why) => ({ line, id, kind: 'note', why }));
  }
}

function summaryText(
  { rows, added, there, refused: no, notes, withoutPassword, weakHashes, linked }: Import['counts'],
  dryRun: boolean,
  seconds: number,
): string {
  const would = dryRun ? 'would be added' : 'added';
  const times = notes === 1 ? 'once' : `${whole(notes)} times`;
  return present(
    `${whole(rows)} ${rows === 1 ? 'row' : 'rows'} in ${seconds.toFixed(1)} s: ${whole(added)} ${would}, ${whole(there)} here already, ${whole(no)} refused.`,
    withoutPassword > 0 &&
      `Without a password: ${whole(withoutPassword)} of those ${would}. The first sign-in leads to a new one.`,
    linked > 0 && `Accounts at providers that ${dryRun ? 'would be' : 'were'} linked: ${whole(linked)}.`,
    weakHashes > 0 &&
      `Weak password hashes: ${whole(weakHashes)} of those ${would}. Each is made anew at its next sign-in; --report FILE names the rows.`,
    notes > 0 && `Something was left out ${times}: --report FILE says what.`,
    dryRun && 'Nothing was changed.',
  ).join('\n');
}

/** The import hashes sequentially. */
const queue = { queueMax: 1, waitMs: 60_000 };

/**
 * A weak hash wrapped in one of Foyer's own, so that from the first day a copy of the database reveals no more about it
 * than about others.
 */
async function wrapped(wrap: NonNullable<PasswordHasher['wrap']>, read: ReadMember): Promise<ReadMember> {
  if (!('member' in read) || !read.notes.includes(weakHashText)) return read;
  const { member } = read;
  const { passwordHash, passwordProfile } = member;
  if (passwordHash === null || passwordProfile === null) return read;
  const { text, profile } = await wrap({ text: passwordHash, profile: passwordProfile });
  return { ...read, member: { ...member, passwordHash: text, passwordProfile: profile } };
}

/**
 * Checks that the file can be read more than once, and that the report does not overwrite it.
 * @returns its size in bytes, at least 1
 * @throws {CliError} refused
 */
async function measureFile(file: string, report: string | undefined): Promise<number> {
  if (report !== undefined && resolve(report) === resolve(file)) {
    throw refused([`--report ${report}: would write over the file itself`]);
  }
  const about = await stat(file).catch(() => undefined);
  if (about && !about.isFile()) throw refused([`${file}: is no file`]);
  return about?.size || 1;
}

function printRefused({ stderr }: Context['io'], { counts, rows }: Import): void {
  for (const line of rows) stderr.write(`${line}\n`);
  if (counts.refused > rows.length) {
    stderr.write(`and ${whole(counts.refused - rows.length)} more refused: --report FILE names them all\n`);
  }
}

/**
 * Imports the users of a file. Each batch is one transaction and existing users stay unchanged, so an interrupted
 * import can simply be repeated.
 * @throws {CliError} refused: it is not a file of users, and nothing was changed
 */
export async function importUsers(context: Context, file: string, options: ImportOptions): Promise<Result> {
  const { config, io, now } = context;
  const size = await measureFile(file, options.report);
  const began = performance.now();
  const { dryRun = false, json: quiet = false, verified = false, ignoreHashes = false } = options;
  const links = openLinks(context, options.provider ?? []);
  const wrap =
    options.wrapWeakHashes && !dryRun ? createPasswordHasher({ ...queue, ...toHashing(config) }).wrap : undefined;
  const rows = rowSourceFor(file, options.format);
  const withheldFields = listWithheldFields(config.PROFILE_FIELDS);
  const { total, ignored } = await survey(rows, listKnownNames(withheldFields));
  if (ignored.length > 0 && !quiet) io.stderr.write(`Not taken over: ${ignored.join(', ')}\n`);
  const settings: ReadSettings = {
    nowMs: now(),
    verified,
    ignoreHashes,
    withheldFields,
    providerNames: links.names,
    termsVersion: loadLegalTexts(config).version.number,
    smsOffered: isSmsOffered(config),
  };
  const startTrials = options.trial ? await openImportTrials(context) : undefined;
  const report = await openReport(options.report);
  const progress = createProgress(io.stderr, dryRun ? 'Looking at members' : 'Importing members', { quiet });
  const earlier = dryRun ? createDigestSet(total * textsPerUser) : undefined;
  const work = new Import(context, report, { earlier, links, startTrials });
  /** Rows that are left to the next pass. */
  let left = 0;
  async function sweep(isMine: (read: ReadMember) => boolean, from: number, to: number): Promise<void> {
    let batch: ReadRow[] = [];
    let bytes = 0;
    left = 0;
    for await (const row of rows((read) => (bytes = read))) {
      const read = readMember(row, settings);
      if (!isMine(read)) left += 1;
      else batch.push({ line: row.line, read: wrap ? await wrapped(wrap, read) : read });
      if (batch.length < batchSize) continue;
      await work.take(batch);
      batch = [];
      progress.show(from + (to - from) * (bytes / size), work.counts.rows);
    }
    await work.take(batch);
  }
  try {
    // Users with a proven address precede those who only claim it.
    const unproven = (read: ReadMember) => 'member' in read && !read.member.emailVerified;
    await sweep((read) => !unproven(read), 0, 0.98);
    if (left > 0) await sweep(unproven, 0.98, 1);
  } finally {
    progress.end();
    await report.close();
  }
  const seconds = (performance.now() - began) / 1_000;
  const { counts } = work;
  if (!quiet) printRefused(io, work);
  if (counts.rows !== total)
    throw refused([`${file}: had ${total} rows, and then ${counts.rows}: it changed meanwhile; import it again`]);
  const fault = `Rows that were refused: ${counts.refused}.`;
  return {
    json: { dryRun, ...counts, ignored, seconds: Math.round(seconds * 10) / 10 },
    text: summaryText(counts, dryRun, seconds),
    error: counts.refused > 0 ? new CliError(exitCodes.refused, fault) : undefined,
  };
}
