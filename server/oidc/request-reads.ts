import type { IncomingMessage } from 'node:http';
import Provider, { type AdapterPayload, type KoaContextWithOIDC } from 'oidc-provider';
import { getCurrentSession } from '../sessions/index.ts';
import { type ClientId, toClientId, toUserId, type UserId } from '../shared/index.ts';
import { type BoundQuery, type Database, readTogether } from '../store/index.ts';
import { currentUserQuery, rememberCurrentUser, toCurrentUser } from '../users/index.ts';
import { isClientId } from './client-metadata.ts';
import { createClientMetadataReader } from './client-store.ts';
import type { GrantOwner, GrantRow } from './grant-records-store.ts';
import type { GrantStore } from './grant-store.ts';
import { toExpressRequest } from './routes-table.ts';

/** The answers of a statement that has read ahead: the first question for each gets it, a later one reads again. */
interface Ahead {
  clients: Map<string, AdapterPayload | undefined>;
  /** By id, or by session and client app. */
  grants: Map<string, AdapterPayload | undefined>;
  codes: Map<string, AdapterPayload | undefined>;
  /** The ids of the grants that this request has found. */
  found: Set<string>;
}

/** Of requests that the library answers. */
const aheads = new WeakMap<IncomingMessage, Ahead>();

function aheadOfRequest(): Ahead | undefined {
  const req = Provider.ctx?.req;
  if (!req) return undefined;
  const known = aheads.get(req) ?? { clients: new Map(), grants: new Map(), codes: new Map(), found: new Set() };
  aheads.set(req, known);
  return known;
}

/** @returns undefined if nothing was read ahead; an answer may be that there is nothing */
function take<V>(answers: Map<string, V> | undefined, key: string): { answer: V } | undefined {
  const answer = answers?.get(key);
  return answers?.delete(key) ? { answer: answer as V } : undefined;
}

const sessionGrantKey = ({ foyerSession, offline }: GrantOwner, clientId: ClientId) =>
  `${foyerSession} ${Number(offline)} ${clientId}`;

/** The user and the grant that a request will need besides the client app. */
interface Expected {
  userId: UserId;
  grant: { key: string; query: BoundQuery<GrantRow> };
}

export interface GrantsOfRequest extends GrantStore {
  /** For a new record of the grant: each use of that record looks the grant up. Read once by one request. */
  isFound(id: string): Promise<boolean>;
}

export interface RequestReads {
  findClient(id: string): Promise<AdapterPayload | undefined>;
  /** Reads all that userinfo needs for this access token. */
  expectUserinfo(token: AdapterPayload): Promise<void>;
  findCode(id: string): Promise<AdapterPayload | undefined>;
}

interface RequestReadsDeps {
  database: Database;
  grants: GrantStore;
}

/** Grants, each read once by a request that uses it twice. */
export function grantsOfRequest(grants: GrantStore): GrantsOfRequest {
  const noted = (grant: AdapterPayload | undefined) => {
    if (grant?.jti !== undefined) aheadOfRequest()?.found.add(grant.jti);
    return grant;
  };
  return {
    ...grants,
    async find(id) {
      const known = take(aheadOfRequest()?.grants, id);
      return noted(known ? known.answer : await grants.find(id));
    },
    async findOfSession(owner, clientId) {
      const known = take(aheadOfRequest()?.grants, sessionGrantKey(owner, clientId));
      return noted(known ? known.answer : await grants.findOfSession(owner, clientId));
    },
    isFound: async (id) => aheadOfRequest()?.found.has(id) || grants.isAlive(id),
    revoke(id) {
      aheadOfRequest()?.found.delete(id);
      return grants.revoke(id);
    },
  };
}

/**
 * Reads for the library. Of PostgreSQL nothing is kept between requests, so one request reads its client app, user and
 * grant by one statement. The answers last as long as the request, so a revocation counts from the next one on.
 * SQLite answers from caches that last until the rows change.
 */
export function createRequestReads(
  { database, grants }: RequestReadsDeps,
  findStoredCode: (id: string) => Promise<AdapterPayload | undefined>,
): RequestReads {
  const clients = createClientMetadataReader(database);
  const ofId = (id: string) => ({ key: id, query: grants.bind(id) });

  async function readAhead(req: IncomingMessage, clientId: ClientId, { userId, grant }: Expected): Promise<void> {
    const ahead = aheadOfRequest();
    const rows = await readTogether(database, {
      client: clients.bind(clientId),
      member: currentUserQuery(database, userId),
      grant: grant.query,
    });
    ahead?.clients.set(clientId, rows.client && clients.read(rows.client));
    ahead?.grants.set(grant.key, rows.grant && grants.open(rows.grant));
    rememberCurrentUser(req, userId, Promise.resolve(rows.member && toCurrentUser(rows.member)));
  }

  async function ofCode(id: string): Promise<Expected | undefined> {
    const code = await findStoredCode(id);
    aheadOfRequest()?.codes.set(id, code);
    const { accountId, grantId } = code ?? {};
    return accountId === undefined || grantId === undefined
      ? undefined
      : { userId: toUserId(accountId), grant: ofId(grantId) };
  }

  function ofSession({ req, oidc }: KoaContextWithOIDC, clientId: ClientId): Expected | undefined {
    const session = getCurrentSession(toExpressRequest(req));
    if (!session) return undefined;
    const offline = String(oidc.params?.scope ?? '')
      .split(' ')
      .includes('offline_access');
    const owner = { foyerSession: session.idHash, offline };
    return {
      userId: session.userId,
      grant: { key: sessionGrantKey(owner, clientId), query: grants.bindOfSession(owner, clientId) },
    };
  }

  /** Undefined: unknown, or nothing else. */
  async function expected(ctx: KoaContextWithOIDC, clientId: ClientId): Promise<Expected | undefined> {
    const { route, params } = ctx.oidc;
    if (route === 'authorization') return ofSession(ctx, clientId);
    const { grant_type: grantType, code } = params ?? {};
    const isExchange = route === 'token' && grantType === 'authorization_code' && typeof code === 'string';
    return isExchange ? ofCode(code) : undefined;
  }

  async function findClient(id: string): Promise<AdapterPayload | undefined> {
    const known = take(aheadOfRequest()?.clients, id);
    if (known) return known.answer;
    const { ctx } = Provider;
    if (database.kind === 'sqlite' || !ctx || !isClientId(id)) return clients.find(id);
    const others = await expected(ctx, toClientId(id));
    if (!others) return clients.find(id);
    await readAhead(ctx.req, toClientId(id), others);
    return take(aheadOfRequest()?.clients, id)?.answer;
  }

  return {
    findClient,
    async expectUserinfo({ clientId, accountId, grantId }) {
      const { ctx } = Provider;
      if (database.kind === 'sqlite' || ctx?.oidc.route !== 'userinfo') return;
      if (clientId === undefined || accountId === undefined || grantId === undefined) return;
      await readAhead(ctx.req, toClientId(clientId), { userId: toUserId(accountId), grant: ofId(grantId) });
    },
    async findCode(id) {
      const known = take(aheadOfRequest()?.codes, id);
      return known ? known.answer : findStoredCode(id);
    },
  };
}
