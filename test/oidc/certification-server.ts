import { openDatabase } from '../../server/store/index.ts';
import { production } from '../attacks/production.ts';
import { createServers } from '../journeys/server-process.ts';
import { Browser } from '../support/browser.ts';
import { cliOn } from '../support/cli.ts';
import { startTrustedProxy } from '../support/production-foyer.ts';
import { anyBackend } from '../support/stores.ts';

/** The suite's address of a plan’s client. */
export const redirectUri = 'https://suite.example/test/a/foyer/callback';

export interface CertificationClient {
  id: string;
  secret: string;
}

interface CertificationMember {
  email: string;
  password: string;
}

/** The built product as a process in production mode, behind a proxy with TLS, as the suite meets it. */
export interface CertificationServer {
  issuer: string;
  /** A plan signs a member in about 35 times, and a password is checked 60 times an hour (PASSWORD_LIMIT_MEMBER). */
  members: readonly [CertificationMember, CertificationMember];
  /** A member who has given nothing but an e-mail address. */
  newcomer: CertificationMember;
  /** Both are registered by `foyer client add --certification`. */
  clients: readonly [CertificationClient, CertificationClient];
  /** A new browser. */
  browser(): Browser;
  stop(): Promise<void>;
}

/** Everything that a client app can get as a claim of OpenID Connect. */
const profile = {
  address: 'Musterstraße 1\n10115 Berlin',
  birthdate: '1990-12-10',
  gender: '1',
  locale: 'en',
  middleName: 'King',
  nickname: 'Ada',
  profileUrl: 'https://ada.example/about',
  website: 'https://ada.example/',
  zoneinfo: 'Europe/Berlin',
} as const;

export async function startCertificationServer(): Promise<CertificationServer> {
  const [proxy, stores, servers] = [await startTrustedProxy(), await anyBackend.reserve(), createServers()];
  async function stop(): Promise<void> {
    await servers.end();
    await proxy.stop();
    await stores.remove();
  }
  try {
    const { url: issuer } = proxy;
    const { dataDir } = stores.urls;
    const media = { MEDIA_URL: 'https://media.example.com', PROFILE_FIELDS: 'nickname,middle_name,website,profile' };
    const environment = { ...production, ...media, PUBLIC_URL: issuer, DATA_DIR: dataDir };
    const server = await servers.start(environment);
    await server.ready;
    proxy.target = `http://127.0.0.1:${server.port}`;

    const foyer = cliOn(stores.urls, environment);
    const command = async (...words: string[]) => {
      const run = await foyer(...words, '--json');
      if (run.code !== 0) throw new Error(run.err);
      return run.json();
    };
    const addMember = async (name: string, phone?: string): Promise<CertificationMember> => {
      const [email, password] = [`${name}@example.com`, 'correct horse 9'];
      const details = phone === undefined ? [] : ['--phone', phone, '--given-name', 'Ada', '--family-name', 'Lovelace'];
      await command(
        'user',
        'add',
        '--email',
        email,
        '--password',
        password,
        ...details,
        '--verified',
        '--accept-terms',
      );
      return { email, password };
    };
    const members = [await addMember('ada', '+4915112345678'), await addMember('eva', '+4915112345679')] as const;
    await fillProfiles(dataDir);
    const newcomer = await addMember('new');
    const register = async (name: string): Promise<CertificationClient> => {
      const options = ['--id', name, '--name', name, '--redirect-uri', redirectUri, '--certification'];
      return { id: name, secret: String((await command('client', 'add', ...options)).client_secret) };
    };
    const clients = [await register('suite'), await register('suite2')] as const;
    const browser = () => new Browser(issuer);
    return { issuer, members, newcomer, clients, browser, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function fillProfiles(dataDir: string): Promise<void> {
  const database = await openDatabase({ dataDir });
  for (const { id, email } of await database.db.selectFrom('users').select(['id', 'email']).execute()) {
    const preferredUsername = email.split('@')[0] ?? null;
    await database.db
      .updateTable('users')
      .set({ ...profile, preferredUsername })
      .where('id', '=', id)
      .execute();
  }
  await database.db.updateTable('userRecords').set({ imageName: 'portrait.png' }).execute();
  await database.close();
}
