import type { FolderFacts } from '../../server/cli/doctor/data-folder.ts';
import type { MachineFacts } from '../../server/cli/doctor/machine.ts';
import type { PostgresFacts } from '../../server/cli/doctor/postgres.ts';
import type { RedisFacts } from '../../server/store/index.ts';

/** Facts in which the doctor finds no fault. */
export const goodFolder: FolderFacts = {
  path: '/srv/foyer/data',
  mode: 0o40700,
  owner: 1000,
  uid: 1000,
  fault: undefined,
  freeBytes: 50e9,
  totalBytes: 100e9,
  fileSystem: 0xef53,
  files: [{ name: 'foyer.db', mode: 0o100600, owner: 1000 }],
  used: true,
  production: true,
};

export const goodMachine: MachineFacts = {
  nodeVersion: '24.1.0',
  cores: 8,
  threads: 8,
  workers: 8,
  openFiles: 65_536,
  root: false,
  production: true,
};

export const goodPostgres: PostgresFacts = {
  version: 160_004,
  maxConnections: 100,
  reserved: 3,
  standby: false,
  encoding: 'UTF8',
  mayMakeTables: true,
  workers: 8,
};

export const goodRedis: RedisFacts = {
  pingMs: 1,
  version: '7.2.4',
  role: 'master',
  cluster: false,
  policy: 'noeviction',
  maxMemory: 0,
  usedMemory: 1,
  appendOnly: true,
  save: '',
  lastWritesOk: true,
  forbidden: [],
  clock: undefined,
  refusedWrite: undefined,
};
