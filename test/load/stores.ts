import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { legalFolder } from '../support/legal-folder.ts';
import { findProgram, type Service, startPostgres, startRedis } from '../support/services.ts';
import { publicUrl } from './setting.ts';

/** Empty stores for one Foyer, and its whole configuration. */
export interface Stores {
  name: string;
  /** The aim of the provider's calls: the part of the rate of a bare library, which keeps all in its own memory. */
  leastOfBare: number;
  environment: Record<string, string>;
  remove(): Promise<void>;
}

const limitless = { ACCOUNT: '1000000', DEVICE: '1000000', ADDRESS: '1000000', OVERALL: '100000000' };

function configuration(dataDir: string): Record<string, string> {
  return {
    PUBLIC_URL: publicUrl,
    DATA_DIR: dataDir,
    SECRET_KEY: randomBytes(36).toString('base64url'),
    SEARCH_APP_URL: 'https://search.example.com/',
    TRUST_PROXY: '1',
    MAIL_FROM: 'Foyer <no-reply@example.com>',
    LEGAL_DIR: legalFolder,
    SMTP_URL: 'smtp://127.0.0.1:9',
    // One generator acts for many users, so the limits count but never refuse.
    PASSWORD_LIMIT_DEVICE: '1000000',
    PASSWORD_LIMIT_MEMBER: '1000000',
    PASSWORD_QUEUE_ACCOUNT: '10000',
    PASSWORD_QUEUE_ADDRESS: '10000',
    ...Object.fromEntries(Object.entries(limitless).map(([name, most]) => [`GUESS_LIMIT_${name}`, most])),
  };
}

export async function embeddedStores(): Promise<Stores> {
  const dataDir = await mkdtemp(join(tmpdir(), 'foyer-bench-'));
  return {
    name: 'SQLite + embedded store',
    leastOfBare: 0.85,
    environment: configuration(dataDir),
    remove: () => rm(dataDir, { recursive: true, force: true }),
  };
}

/** Undefined if the two programs are not installed. */
export async function serverStores(): Promise<Stores | undefined> {
  if (!findProgram('redis-server') || !findProgram('postgres')) return undefined;
  const dataDir = await mkdtemp(join(tmpdir(), 'foyer-bench-'));
  const services: Service[] = [];
  const remove = async () => {
    await Promise.all(services.map((service) => service.stop()));
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    services.push(await startPostgres());
    services.push(await startRedis());
  } catch (error) {
    await remove();
    throw error;
  }
  const [postgres, redis] = services;
  return {
    name: 'PostgreSQL + Redis',
    leastOfBare: 0.6,
    environment: {
      ...configuration(dataDir),
      DATABASE_URL: postgres?.url ?? '',
      REDIS_URL: redis?.url ?? '',
    },
    remove,
  };
}
