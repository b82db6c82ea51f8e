import {
  type ClientMetadata,
  type ClientRequest,
  canonicalScopes,
  clientMetadata,
  createClientSecret,
  deleteClient,
  deviceGrant,
  findClient,
  findResourceServer,
  grantsToNobody,
  insertClient,
  isRestricted,
  listClients,
  previousSecretExpiry,
  toClientRequest,
  updateClient,
} from '../oidc/index.ts';
import { type ClientId, hourMs } from '../shared/index.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, refused } from './errors.ts';
import { onOffer } from './grantable-access.ts';
import type { Result } from './io.ts';
import { counted, facts, table } from './text.ts';

const isPublic = (client: ClientMetadata) => client.token_endpoint_auth_method === 'none';
/** Other clients have no secret, or authenticate with a key. */
const hasSecret = (client: ClientMetadata) => client.token_endpoint_auth_method === 'client_secret_basic';
const noClient = (id: string) => new CliError(exitCodes.notFound, `There is no client ${id}.`);
const development = ({ config }: Context) => ({ development: !config.production });

function clientKind(client: ClientMetadata): string {
  return [
    client.application_type,
    isPublic(client) ? 'public' : 'confidential',
    client.first_party ? 'first-party' : 'third-party',
    ...(client.legacy ? ['legacy'] : []),
    ...(client.grant_types.includes(deviceGrant) ? ['device'] : []),
    ...(client.grant_types.includes('client_credentials') ? ['service'] : []),
  ].join(', ');
}

function clientRequirements(client: ClientMetadata): string {
  return [
    ...(client.require_pushed_authorization_requests ? ['pushed requests'] : []),
    ...(client.dpop_bound_access_tokens ? ['DPoP'] : []),
    ...(client.token_endpoint_auth_method === 'private_key_jwt' ? ['assertions signed with its key'] : []),
    ...(client.legacy_id_token_redirect ? ['id tokens in the query'] : []),
  ].join(', ');
}

/** As RFC 7591, section 3.2.1, answers a registration. */
function withSecret(client: ClientMetadata, secret: string | null | undefined): object {
  return secret ? { ...client, client_secret: secret, client_secret_expires_at: 0 } : client;
}

interface Described {
  secret?: string | null;
  grants?: number;
  /** Expiry of the previous secret, in milliseconds since the epoch. */
  previousUntilMs?: number | undefined;
}

function describe(client: ClientMetadata, { secret, grants, previousUntilMs }: Described = {}): string {
  const keys = client.jwks?.keys.map(({ kid, kty }) => String(kid ?? kty)).join(' ');
  return facts([
    ['Client id', client.client_id],
    ['Client secret', secret ? `${secret}  (shown this once: Foyer keeps only its hash)` : undefined],
    [
      'Previous secret',
      previousUntilMs === undefined ? undefined : `valid until ${new Date(previousUntilMs).toISOString()}`,
    ],
    ['Keys', client.jwks_uri ?? keys],
    ['Name', client.client_name],
    ['Kind', clientKind(client)],
    ['Redirect URIs', client.redirect_uris],
    ['Logout URIs', client.post_logout_redirect_uris],
    ['Logback URI', client.initiate_login_uri],
    ['Logo', client.logo_uri],
    ['Scopes', client.scope],
    ['Resources', client.resources],
    ['Response types', client.response_types.join(' ')],
    ['Id tokens', `signed with ${client.id_token_signed_response_alg}`],
    ['Told of logouts at', client.backchannel_logout_uri],
    ['Needs', clientRequirements(client)],
    ['Calls a minute', client.calls_per_minute === undefined ? undefined : `${client.calls_per_minute} of each call`],
    ['Dashboard', client.hidden ? 'not shown' : undefined],
    ['Members need', [...(client.required_plans ?? []), ...(client.required_entitlements ?? [])].join(' or ')],
    ['Grants', grants === undefined ? undefined : `${grants} from members`],
  ]);
}

type Db = Parameters<typeof findResourceServer>[0];

/** A client with an unknown resource server would get no access, without an explanation. */
async function unknownResources(db: Db, client: ClientMetadata): Promise<string[]> {
  const faults: string[] = [];
  for (const resource of client.resources ?? []) {
    if (!(await findResourceServer(db, resource))) {
      faults.push(`resource ${resource}: is not registered; add it with \`foyer resource add\``);
    }
  }
  return faults;
}

/** A misspelt plan would lock all users out, without an explanation. @throws {PlansFileError} */
function unknownPlans({ catalogue }: Context, client: ClientMetadata): string[] {
  if (!isRestricted(client)) return [];
  const offer = onOffer(catalogue());
  const { plans, entitlements } = grantsToNobody(client, offer);
  const fault = (option: string, known: readonly string[]) => (one: string) =>
    `${option} ${one}: PLANS_FILE has none; known are ${known.join(', ')}`;
  return [
    ...plans.map(fault('only-plan', offer.plans)),
    ...entitlements.map(fault('only-entitlement', offer.entitlements)),
  ];
}

/** Warnings about an allowed registration. */
function toWarnings(client: ClientMetadata): string[] {
  const readsRecords = !client.first_party && canonicalScopes(client.scope.split(' ')).includes('account');
  return [
    ...(readsRecords
      ? [
          'Warning: a third party gets the scope account: it reads the record of each member who consents, and changes their profile.',
        ]
      : []),
    ...(client.legacy
      ? [
          'Warning: a legacy client may send no nonce of its own. It cannot notice an id token that an attacker injects (OpenID Connect Core 1.0, section 3.2.2.11).',
        ]
      : []),
    ...(client.legacy_id_token_redirect
      ? [
          'Warning: id tokens in the query of an address stand in histories and logs. Change the app to the code flow soon.',
        ]
      : []),
  ];
}

const withWarnings = (client: ClientMetadata, text: string) => [text, ...toWarnings(client)].join('\n\n');

function refuseAny(faults: readonly string[]): void {
  if (faults.length > 0) throw refused([...faults]);
}

/** @throws {InvalidClientRequest} with every fault; {CliError} for unknown references, or if its id exists */
export async function addClient(context: Context, request: ClientRequest): Promise<Result> {
  const client = clientMetadata(request, development(context));
  refuseAny([...(await unknownResources(context.database.db, client)), ...unknownPlans(context, client)]);
  const secret = hasSecret(client) ? createClientSecret() : null;
  if (!(await insertClient(context.database.db, client, { secret, nowMs: context.now() }))) {
    throw refused([`id ${client.client_id}: is taken; change that client with \`foyer client update\``]);
  }
  const text = `Client ${client.client_id} is added and can ${client.redirect_uris.length > 0 ? 'sign members in' : 'ask for tokens'} now.\n\n${describe(client, { secret })}`;
  return { json: withSecret(client, secret), text: withWarnings(client, text) };
}

export async function showClients({ database }: Context): Promise<Result> {
  const clients = await listClients(database.db);
  const rows = clients.map((client) => {
    const [first = '', ...more] = client.redirect_uris;
    const addresses = more.length === 0 ? first : `${first} and ${more.length} more`;
    return [client.client_id, client.client_name, clientKind(client), addresses];
  });
  const text = rows.length === 0 ? 'No clients yet.' : table(['id', 'name', 'kind', 'redirect uri'], rows);
  return { json: clients, text };
}

export async function showClient({ database, grants, now }: Context, id: ClientId): Promise<Result> {
  const client = await findClient(database.db, id);
  if (!client) throw noClient(id);
  const expiry = await previousSecretExpiry(database.db, id);
  const previousUntilMs = expiry !== undefined && expiry > now() ? expiry : undefined;
  const until = previousUntilMs === undefined ? {} : { previous_secret_expires_at: Math.floor(previousUntilMs / 1000) };
  const text = describe(client, { grants: await grants.count({ clientId: id }), previousUntilMs });
  return { json: { ...client, ...until }, text };
}

/** Tests whether earlier grants exceed the new registration. */
export function isNarrowed(before: ClientMetadata, after: ClientMetadata): boolean {
  const allowed = new Set(after.scope.split(' '));
  const requestedAddresses = (client: ClientMetadata) => !client.first_party || client.application_type === 'native';
  const lost = (before.resources ?? []).some((resource) => !after.resources?.includes(resource));
  return (
    lost ||
    before.scope.split(' ').some((scope) => !allowed.has(scope)) ||
    (requestedAddresses(after) && !requestedAddresses(before))
  );
}

/** A new secret, null for none, undefined to keep the present one. */
function secretAfter(before: ClientMetadata, after: ClientMetadata, expected: boolean): string | null | undefined {
  if (!hasSecret(after)) {
    if (expected)
      throw refused([`new-secret: a client ${isPublic(after) ? 'that is public' : 'with keys'} has no secret`]);
    return null;
  }
  return expected || !hasSecret(before) ? createClientSecret() : undefined;
}

export interface SecretOptions {
  newSecret: boolean;
  /** Hours for which the present secret stays valid beside the new one. */
  oldSecretHours: number;
  dropOldSecret: boolean;
}

export interface ClientChange {
  changes: Partial<ClientRequest>;
  secrets: SecretOptions;
}

/** Changes the given properties and checks the whole registration again. */
export async function changeClient(
  context: Context,
  id: ClientId,
  { changes, secrets }: ClientChange,
): Promise<Result> {
  const { database, grants, now } = context;
  const { client, secret, previousUntilMs, narrowed } = await database.transaction(async (trx) => {
    const before = await findClient(trx, id);
    if (!before) throw noClient(id);
    const after = clientMetadata({ ...toClientRequest(before), ...changes }, development(context));
    refuseAny([
      ...(changes.resources ? await unknownResources(trx, after) : []),
      ...(changes.requiredPlans || changes.requiredEntitlements ? unknownPlans(context, after) : []),
    ]);
    const newSecret = secretAfter(before, after, secrets.newSecret);
    const stays = secrets.newSecret && hasSecret(before) && secrets.oldSecretHours > 0;
    const previousUntilMs = stays ? now() + secrets.oldSecretHours * hourMs : undefined;
    const change = { secret: newSecret, previousUntilMs, dropPrevious: secrets.dropOldSecret };
    await updateClient(trx, after, { ...change, nowMs: now() });
    return { client: after, secret: newSecret, previousUntilMs, narrowed: isNarrowed(before, after) };
  });
  const ended = narrowed ? await grants.count({ clientId: id }) : 0;
  if (narrowed) await grants.revokeOfClient(id);
  const lines = [
    `Client ${id} is changed.`,
    ...(secret && previousUntilMs === undefined ? ['Its old secret, if it had one, is void from now on.'] : []),
    ...(previousUntilMs === undefined
      ? []
      : [`Its old secret stays valid until ${new Date(previousUntilMs).toISOString()}; --drop-old-secret ends it.`]),
    ...(secrets.dropOldSecret ? ['Only its newest secret is valid now.'] : []),
    ...(narrowed
      ? [`It may do less than before, so what it had been given has ended: ${counted(ended, 'grant')}.`]
      : []),
  ];
  const text = `${lines.join('\n')}\n\n${describe(client, { secret: secret ?? null, previousUntilMs })}`;
  return { json: withSecret(client, secret), text: withWarnings(client, text) };
}

/** Removes a client with all its access to users' data; it is notified that all its sessions have ended. */
export async function removeClient({ database, grants }: Context, id: ClientId): Promise<Result> {
  const ended = await grants.count({ clientId: id });
  const removed = await database.transaction(async (trx) => {
    // While the registration still has the address for notifications.
    await grants.endOfClient(trx, id);
    return deleteClient(trx, id);
  });
  // Grants that were made meanwhile, or left by an interrupted attempt of an older Foyer.
  await grants.revokeOfClient(id);
  if (!removed && ended === 0) throw noClient(id);
  return {
    json: { client_id: id, removed: true, ended: { grants: ended } },
    text: `Client ${id} is removed. ${counted(ended, 'grant')} ended, with all codes and tokens that hung on ${ended === 1 ? 'it' : 'them'}.`,
  };
}
