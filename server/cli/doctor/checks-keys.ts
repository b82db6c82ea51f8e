import {
  type ClientMetadata,
  type GrantableAccess,
  grantsToNobody,
  isRestricted,
  mayHoldSensitive,
  type SigningKeyInfo,
  sensitiveScopes,
} from '../../oidc/index.ts';
import { dayMs } from '../../shared/index.ts';
import { counted, moment } from '../text.ts';
import type { Finding } from './finding.ts';
import type { KeyFacts } from './keys.ts';
import { fault, note, ok, table, warning } from './table.ts';

/** A recommendation: NIST SP 800-57 allows a signing key for one to three years. */
const oldAfterDays = 180;

const judgeSealing = ({ opens }: KeyFacts): Finding[] =>
  table('keys', [
    fault('keys.sealed', opens?.all === false)`SECRET_KEY does not open the signing keys in this database.
    Why: A Foyer with these two cannot sign a token: it does not start.
    Do: Set SECRET_KEY to the one they were sealed with (behind the new one, with a comma), or DATABASE_URL to the right database. If the service runs with this key, this command has read it differently: compare quotes and # in the file.`,
    note('keys.sealed', opens?.newest === false)`A signing key is still sealed with an old SECRET_KEY of the list.
    Why: Without that old one it cannot be opened.
    Do: Run \`foyer keys rotate\`, and keep the old SECRET_KEY until the keys that it sealed are gone (\`foyer keys list\`).`,
    ok('keys.sealed', opens !== undefined)`SECRET_KEY opens all signing keys.`,
  ]);

function judgeSigner({ keys, nowMs }: KeyFacts, alg: SigningKeyInfo['alg']): Finding[] {
  const active = keys.find((key) => key.alg === alg && key.state === 'active');
  const activatesAt = active?.activatesAt ?? nowMs;
  const days = Math.floor((nowMs - activatesAt) / dayMs);
  return table('keys', [
    fault('keys.missing', !active)`There is no signing key for ${alg}.
    Why: No client app that wants ${alg} gets a token.
    Do: Run \`foyer keys rotate\`.`,
    note('keys.age', days >= oldAfterDays)`The ${alg} key has signed for ${days} days, since ${moment(activatesAt)}.
    Why: The longer a key signs, the more an unnoticed leak is worth.
    Do: Run \`foyer keys rotate\`; it disturbs no one.`,
    ok('keys.age', !!active)`The ${alg} key has signed for ${counted(Math.max(0, days), 'day')}.`,
  ]);
}

function judgeOtherKeys({ keys, nowMs }: KeyFacts): Finding[] {
  const next = keys.filter((key) => key.state === 'next').map((key) => key.activatesAt);
  const retired = keys.filter((key) => key.state === 'retired').map((key) => key.expiresAt ?? 0);
  const [soonest, last] = [Math.min(...next), Math.max(...retired)].map((ms) =>
    moment(Number.isFinite(ms) ? ms : nowMs),
  );
  return table('keys', [
    ok('keys.next', next.length > 0)`${counted(next.length, 'new key')} will sign from ${soonest}.`,
    ok('keys.retired', retired.length > 0)`
    ${counted(retired.length, 'retired key')} verify what they signed until ${last}.`,
  ]);
}

/** The signing keys: they exist, can be opened, and are not too old. */
export const judgeKeys = (facts: KeyFacts): Finding[] =>
  facts.keys.length > 0
    ? [
        ...judgeSealing(facts),
        ...(['ES256', 'RS256'] as const).flatMap((alg) => judgeSigner(facts, alg)),
        ...judgeOtherKeys(facts),
      ]
    : table('keys', [
        warning('keys.none')`There are no signing keys yet.
    Why: The first start of Foyer makes them; a Foyer that has run before has some.
    Do: Start Foyer, or see whether DATABASE_URL and DATA_DIR are the server’s.`,
      ]);

/** Compares the published keys of a running Foyer, read over several connections, with the database. */
export function judgePublished(published: readonly (readonly string[])[], keys: readonly SigningKeyInfo[]): Finding[] {
  const isUnknown = (kids: readonly string[]) => !keys.some(({ kid }) => kids.includes(kid));
  const late = published.filter((kids) => keys.some(({ kid, state }) => state === 'active' && !kids.includes(kid)));
  const differ = new Set(published.map((kids) => [...kids].sort().join())).size > 1;
  return table('keys', [
    fault('keys.published', published.some(isUnknown))`
    The Foyer at PUBLIC_URL publishes keys of which none is in this database.
    Why: It has another database than this command, or something else answers there.
    Do: Give this command the same environment as the server; several hosts need the same DATABASE_URL.`,
    fault('keys.published', late.length > 0)`
    A key that signs is missing from ${late.length} of ${published.length} answers of PUBLIC_URL.
    Why: Client apps refuse tokens whose key they do not find there: a process or a cache has not read the keys for too long.
    Do: Look into the log of the server for the store’s errors, restart what is stuck, and let no proxy keep /oauth2/jwks longer than its Cache-Control says.`,
    note('keys.published', differ)`Answers of PUBLIC_URL differ in the keys that they publish.
    Why: Processes read new keys within KEYS_REFRESH_SECONDS: right after a rotation that is as it should be.
    Do: Run \`foyer doctor\` again in a minute; if it stays, restart the server.`,
    ok('keys.published')`${counted(published.length, 'answer')} of PUBLIC_URL publish the keys that sign.`,
  ]);
}

/** Compares the access that client apps require with what users can have. */
export function judgeClients(clients: readonly ClientMetadata[], offer: GrantableAccess): Finding[] {
  const limited = clients.filter((client) => isRestricted(client));
  const wanting = limited.flatMap((client) => {
    const { plans, entitlements } = grantsToNobody(client, offer);
    const missing = [...plans.map((id) => `plan ${id}`), ...entitlements];
    const all = [...(client.required_plans ?? []), ...(client.required_entitlements ?? [])];
    const text = `${client.client_id} (${missing.join(', ')})`;
    return missing.length === 0 ? [] : [{ text, isShut: missing.length === all.length }];
  });
  const shut = wanting.filter(({ isShut }) => isShut).map(({ text }) => text);
  const partly = wanting.filter(({ isShut }) => !isShut).map(({ text }) => text);
  const todo = 'Change PLANS_FILE, or the client app: `foyer client update ID --only-plan …`, or `--no-only-plan`.';
  return [
    ...table('plans', [
      fault('plans.clients', shut.length > 0)`
    Nothing in the catalogue lets a member into ${counted(shut.length, 'client app')}: ${shut.join('; ')}.
    Why: Members are sent to the plans, and none of those lets them in.
    Do: ${todo}`,
    ]),
    ...table('plans', [
      warning('plans.clients', partly.length > 0)`
    Not in the catalogue, and asked for by ${counted(partly.length, 'client app')}: ${partly.join('; ')}.
    Why: Members who have that from before may be shut out; the rest of what is asked for still lets members in.
    Do: ${todo}`,
      ok('plans.clients', shut.length === 0 && limited.length > 0)`
    What is asked of members is in the catalogue, at ${counted(limited.length, 'client app')}.`,
    ]),
  ];
}

/** The clients whose tokens change credentials or charge cards: each of their servers can take accounts over. */
export const judgeSensitive = (clients: readonly ClientMetadata[]): Finding[] =>
  sensitiveScopes.flatMap((scope) => {
    const holders = clients.filter((client) => client.scope.split(' ').includes(scope));
    const unfit = holders.filter((client) => !mayHoldSensitive(client));
    const id = `clients.${scope.replace(':', '-')}`;
    const names = (some: readonly ClientMetadata[]) => some.map(({ client_id: name }) => name).join(', ');
    const does = {
      'account:security': 'change email addresses, phone numbers, passwords and second factors of members',
      'account:payments': 'buy plans with the saved cards of members',
    };
    const todo = 'Take the scope from each client that does not need it: `foyer client update ID --scope …`.';
    return table('clients', [
      note(id, holders.length > 0)`${counted(holders.length, 'client')} with the scope ${scope}: ${names(holders)}.
    Why: The tokens of these clients ${does[scope]}.
    Do: ${todo}`,
      warning(`${id}.unfit`, unfit.length > 0)`
    The scope ${scope} is registered for a client that may not have it: ${names(unfit)}.
    Why: Only confidential web clients of the marketplace get it; Foyer refuses the calls of these clients.
    Do: ${todo}`,
    ]);
  });

/** The clients that may send requests without a nonce: they should move to the code flow. */
export function judgeLegacy(clients: readonly ClientMetadata[]): Finding[] {
  const legacy = clients
    .filter((client) => client.legacy)
    .map((client) => `${client.client_id}${client.legacy_id_token_redirect ? ' (id tokens in the query)' : ''}`);
  return table('clients', [
    note('clients.legacy', legacy.length > 0)`${counted(legacy.length, 'legacy client')}: ${legacy.join(', ')}.
    Why: A legacy client may send no nonce of its own, so it cannot notice an id token that an attacker injects.
    Do: Change each app to the code flow with PKCE, then: \`foyer client update ID --no-legacy\`.`,
  ]);
}

/** @param ids the clients whose secret is older than a year */
export const judgeSecrets = (ids: readonly string[]): Finding[] =>
  table('clients', [
    note('clients.old-secret', ids.length > 0)`
    ${counted(ids.length, 'client')} with a secret that is older than a year: ${ids.join(', ')}.
    Why: A secret that leaked unnoticed stays of use until it is replaced.
    Do: \`foyer client update ID --new-secret\`: the old one stays valid for 24 hours. Or use keys: \`--jwks-uri\`.`,
  ]);

/** The clients whose requests may come without PKCE. */
export function judgePkce(clients: readonly ClientMetadata[]): Finding[] {
  const exempted = clients.filter((client) => client.pkce_optional && !client.nonce_optional);
  const open = clients.filter((client) => client.nonce_optional);
  const names = (some: readonly ClientMetadata[]) => some.map(({ client_id: name }) => name).join(', ');
  return table('clients', [
    note('clients.no-pkce', exempted.length > 0)`
    ${counted(exempted.length, 'client')} without PKCE: ${names(exempted)}.
    Why: Only the nonce, which the app itself must compare, protects its codes from injection.
    Do: When its library knows PKCE: \`foyer client update ID --pkce\`.`,
    warning('clients.no-nonce', open.length > 0)`
    ${counted(open.length, 'client')} without PKCE and without a nonce: ${names(open)}.
    Why: Nothing protects the codes of these clients from injection (RFC 9700, section 4.5). Certification needs it; members do not.
    Do: Remove the client after the certification, or: \`foyer client update ID --nonce\`.`,
  ]);
}
