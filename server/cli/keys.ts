import {
  ensureKeys,
  listKeys,
  loadJwks,
  publicMetadataSeconds,
  rotateKeys,
  type SigningKeyInfo,
} from '../oidc/index.ts';
import { dayMs } from '../shared/index.ts';
import type { Program } from './command.ts';
import type { Context } from './context.ts';
import type { Result } from './io.ts';
import { moment, numericDate, table } from './text.ts';

function keyJson(key: SigningKeyInfo) {
  return {
    kid: key.kid,
    alg: key.alg,
    state: key.state,
    created_at: numericDate(key.createdAt),
    signs_from: numericDate(key.activatesAt),
    published_until: key.expiresAt === null ? null : numericDate(key.expiresAt),
  };
}

const stateTexts = { next: 'next (published)', active: 'active (signs)', retired: 'retired (verifies)' } as const;

function keyTable(keys: readonly SigningKeyInfo[], nowMs: number): string {
  const rows = keys.map((key) => [
    key.kid,
    key.alg,
    stateTexts[key.state],
    key.state === 'retired' && key.activatesAt > nowMs ? 'never' : moment(key.activatesAt),
    key.expiresAt === null ? '' : moment(key.expiresAt),
  ]);
  return table(['kid', 'alg', 'state', 'signs from', 'published until'], rows);
}

async function showKeys({ database, now }: Context): Promise<Result> {
  const keys = await listKeys(database.db, now());
  const text = keys.length === 0 ? 'No keys yet: the first start of Foyer makes them.' : keyTable(keys, now());
  return { json: keys.map(keyJson), text };
}

/**
 * When new keys start to sign and old ones are removed. A new key waits until every process has read it and every cache
 * of the published keys has been renewed since; an old one verifies as long as any session that it signed for may last.
 */
export function rotationTimes(
  nowMs: number,
  {
    keysRefreshSeconds,
    rememberMeDays,
    atOnce,
  }: { keysRefreshSeconds: number; rememberMeDays: number; atOnce: boolean },
): { signsFrom: number; keptUntil: number } {
  const waitMs = atOnce ? 0 : (publicMetadataSeconds + 2 * keysRefreshSeconds) * 1000;
  const signsFrom = nowMs + waitMs;
  return { signsFrom, keptUntil: signsFrom + (rememberMeDays + 1) * dayMs };
}

async function makeFirstKeys({ database, boxes, now }: Context): Promise<Result> {
  await ensureKeys(database, boxes.keys, { nowMs: now() });
  const keys = await listKeys(database.db, now());
  return {
    json: { keys: keys.map(keyJson) },
    text: `There were no keys yet: the first ones sign now.\n\n${keyTable(keys, now())}`,
  };
}

async function rotate(context: Context, atOnce: boolean): Promise<Result> {
  const { config, database, boxes, now } = context;
  // New keys that were sealed with another SECRET_KEY would be useless to the server: then this throws UnsealError.
  const { keys: present } = await loadJwks(database, boxes.keys, now());
  if (present.length === 0) return makeFirstKeys(context);
  const nowMs = now();
  const { KEYS_REFRESH_SECONDS: keysRefreshSeconds, REMEMBER_ME_DAYS: rememberMeDays } = config;
  const { signsFrom, keptUntil } = rotationTimes(nowMs, { keysRefreshSeconds, rememberMeDays, atOnce });
  const keys = await rotateKeys(database, boxes.keys, { nowMs, signsFrom, keptUntil });
  const until = moment(keptUntil);
  const lines = atOnce
    ? [
        `New keys sign at once: every running Foyer takes them up within ${keysRefreshSeconds} s.`,
        `A client app that has read the published keys within the last ${publicMetadataSeconds} s may refuse new tokens until it reads them again.`,
        `The old keys sign nothing more. They stay published until ${until}, so that open sessions last:`,
        'until then a client app still accepts an id token that an attacker signs with a leaked one.',
      ]
    : [
        `New keys are published within ${keysRefreshSeconds} s and sign from ${moment(signsFrom)} (in ${(signsFrom - nowMs) / 1000} s),`,
        'when every running Foyer and every cache of the published keys has them. Until then the present ones sign.',
        `Those stay published until ${until}, so that what they signed keeps verifying.`,
      ];
  return {
    json: { signs_from: numericDate(signsFrom), old_published_until: numericDate(keptUntil), keys: keys.map(keyJson) },
    text: `${lines.join('\n')}\n\n${keyTable(keys, nowMs)}`,
  };
}

export function keyCommands({ group }: Program): void {
  const add = group('keys', 'the keys that sign id tokens');
  add('list', {
    description: 'all keys that are published, with their state',
    json: 'print JSON',
    help: `
  next     is published and does not sign yet
  active   signs
  retired  signs no more; what it signed still verifies

Example:
  foyer keys list`,
    run: () => showKeys,
  });
  add('rotate', {
    description: 'make new keys; the present ones keep verifying',
    options: [
      ['--now', 'sign with the new keys at once, for when a key has leaked: some client apps may stumble for a minute'],
    ],
    json: 'print JSON: {"signs_from", "old_published_until", "keys": [...]}',
    help: `
New keys are published first and sign when every running Foyer and every cache has them (the output says when). Old ones
are published for REMEMBER_ME_DAYS + 1 days more. No restart is needed.

Examples:
  foyer keys rotate
  foyer keys rotate --now`,
    run: (options: { now?: boolean }) => (context) => rotate(context, options.now ?? false),
  });
}
