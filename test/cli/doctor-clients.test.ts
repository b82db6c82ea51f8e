import { loadPlans } from '../../config/plans.ts';
import { judgeClients, judgeLegacy } from '../../server/cli/doctor/checks-keys.ts';
import { checkClients } from '../../server/cli/doctor/database.ts';
import type { Area } from '../../server/cli/doctor/finding.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import { onOffer } from '../../server/cli/grantable-access.ts';
import { type ClientRequest, clientMetadata, insertClient, updateClient } from '../../server/oidc/index.ts';
import { anyBackend, type OpenStores } from '../support/stores.ts';

const offer = { plans: ['1', '2'], entitlements: ['showcase'] };
const client = (id: string, change: Partial<ClientRequest> = {}) =>
  clientMetadata({ id, name: id, redirectUris: [`https://${id}.example.com/cb`], ...change }, { development: false });
const judged = (...clients: ReturnType<typeof client>[]) =>
  judgeClients(clients, offer).map(({ level, seen }) => `${level}: ${seen}`);

describe('foyer doctor on the requirements of clients', () => {
  it('The doctor reports nothing when no client requires anything', () => {
    expect(judged()).toEqual([]);
    expect(judged(client('open'))).toEqual([]);
  });

  it('The doctor accepts required plans and entitlements that are in the catalogue', () => {
    const asked = [client('a', { requiredPlans: ['2'] }), client('b', { requiredEntitlements: ['showcase'] })];
    expect(judged(...asked)).toEqual(['ok: What is asked of members is in the catalogue, at 2 client apps.']);
  });

  it('A client that no plan opens is a fault, and one with some missing plans is a warning', () => {
    const gone = client('gone', { requiredPlans: ['gold'], requiredEntitlements: ['wings'] });
    const partly = client('partly', { requiredPlans: ['1', 'silver'] });
    expect(judged(gone, partly, client('open'))).toEqual([
      'fault: Nothing in the catalogue lets a member into 1 client app: gone (plan gold, wings).',
      'warning: Not in the catalogue, and asked for by 1 client app: partly (plan silver).',
    ]);
  });

  it('The doctor lists the legacy clients and those with id tokens in the query', () => {
    const query = { redirectUris: ['https://oldest.example.com/cb/'], legacyIdTokenRedirect: true };
    const all = [client('new'), client('older', { legacy: true }), client('oldest', query)];
    expect(judgeLegacy(all)).toMatchObject([
      { id: 'clients.legacy', level: 'note', seen: '2 legacy clients: older, oldest (id tokens in the query).' },
    ]);
    expect(judgeLegacy(all.slice(0, 1))).toEqual([]);
  });

  describe('on a database', () => {
    let stores: OpenStores;
    beforeAll(async () => {
      stores = await anyBackend.open();
      const { plans } = onOffer(loadPlans());
      for (const one of [client('ours', { requiredPlans: plans.slice(0, 1) }), client('old', { requiredPlans: ['0'] })])
        await insertClient(stores.database.db, one, { secret: null, nowMs: 1 });
    });
    afterAll(() => stores?.destroy());
    const look = async (env: NodeJS.ProcessEnv, only: Area = 'plans') => {
      const setup = readSetup({ NODE_ENV: 'development', SECRET_KEY: 's'.repeat(40), ...env }, Date.now);
      return (await checkClients(stores.database, setup)).filter(({ area }) => area === only);
    };

    it('The doctor finds a client that was registered before its plan left the catalogue', async () => {
      expect(await look({})).toMatchObject([
        { id: 'plans.clients', level: 'fault', seen: expect.stringContaining('old') },
      ]);
    });

    it('The doctor notes a secret that is older than a year, until a new one replaces it', async () => {
      const { db } = stores.database;
      const yearMs = 365 * 24 * 60 * 60 * 1000;
      const notes = async () => (await look({}, 'clients')).filter(({ id }) => id === 'clients.old-secret');
      await insertClient(db, client('young'), { secret: 's', nowMs: Date.now() - yearMs + 60_000 });
      await insertClient(db, client('keyed'), { secret: null, nowMs: 1 });
      await insertClient(db, client('aged'), { secret: 's', nowMs: Date.now() - yearMs - 60_000 });
      expect(await notes()).toMatchObject([
        { level: 'note', seen: '1 client with a secret that is older than a year: aged.' },
      ]);
      await updateClient(db, client('aged', { name: 'Renamed' }), { nowMs: Date.now() });
      expect(await notes()).toHaveLength(1);
      await updateClient(db, client('aged'), { secret: 'n', nowMs: Date.now() });
      expect(await notes()).toEqual([]);
    });

    it('The doctor finds a legacy client among the registered clients', async () => {
      await insertClient(stores.database.db, client('legacy-shop', { legacy: true }), { secret: null, nowMs: 1 });
      expect(await look({}, 'clients')).toMatchObject([
        { id: 'clients.legacy', seen: expect.stringContaining('legacy-shop') },
      ]);
    });

    it('A catalogue that cannot be read is left to the check of the file', async () => {
      expect(await look({ PLANS_FILE: '/nowhere/plans.json' })).toEqual([]);
    });
  });
});
