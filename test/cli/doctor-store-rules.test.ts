import { judgeFolder } from '../../server/cli/doctor/checks-host.ts';
import { judgePublished } from '../../server/cli/doctor/checks-keys.ts';
import { judgeAnswer, judgePostgres, judgeRedis } from '../../server/cli/doctor/checks-stores.ts';
import type { FolderFacts } from '../../server/cli/doctor/data-folder.ts';
import type { PostgresFacts } from '../../server/cli/doctor/postgres.ts';
import type { RedisFacts } from '../../server/store/index.ts';
import { listComplaints } from '../support/doctor-findings.ts';
import { goodFolder, goodPostgres, goodRedis } from './doctor-facts.ts';

describe('the data folder', () => {
  const readable = [{ name: 'foyer.db', mode: 0o100644, owner: 1000 }];
  it.each<[string, Partial<FolderFacts>, string[]]>([
    ['a folder in order', {}, []],
    ['a folder that no store uses', { used: false, fault: 'unwritable', freeBytes: 0 }, []],
    ['a folder that does not exist', { mode: undefined }, ['data-folder.missing note']],
    ['a folder that is not writable', { fault: 'unwritable' }, ['data-folder.writable fault']],
    ['a folder on NFS', { fileSystem: 0x6969 }, ['data-folder.network fault']],
    ['a folder on SMB with a signed number', { fileSystem: 0xfe534d42 | 0 }, ['data-folder.network fault']],
    ['a folder on FUSE', { fileSystem: 0x65735546 }, ['data-folder.network warning']],
    ['a folder in memory', { fileSystem: 0x01021994 }, ['data-folder.memory warning']],
    ['a folder in memory in development', { fileSystem: 0x01021994, production: false }, []],
    ['little space', { freeBytes: 999e6 }, ['data-folder.space warning']],
    ['no space', { freeBytes: 99e6 }, ['data-folder.space fault']],
    ['a folder open to the group', { mode: 0o40750 }, []],
    ['a folder open to all users', { mode: 0o40755 }, ['data-folder.permissions warning']],
    ['a folder and a file open to all users', { mode: 0o40755, files: readable }, ['data-folder.permissions fault']],
    ['an open file in a closed folder', { files: readable }, []],
    ['another owner', { owner: 0 }, ['data-folder.owner warning']],
  ])('The data folder check gives the expected findings for %s', (_what, facts, expected) =>
    expect(listComplaints(judgeFolder({ ...goodFolder, ...facts }))).toEqual(expected),
  );
});

describe('stores', () => {
  it.each([
    [19.9, 'ok'],
    [20, 'note'],
    [200, 'warning'],
  ])('An answer in %d ms has the level %s', (ms, level) =>
    expect(judgeAnswer('database', 'PostgreSQL', ms).map((found) => found.level)).toEqual([level]),
  );

  it.each<[string, Partial<PostgresFacts>, string[]]>([
    ['a server in order', {}, []],
    ['just enough connections', { maxConnections: 95 }, []],
    ['one connection too few', { maxConnections: 94 }, ['postgres.connections warning']],
    ['version 13', { version: 130_012 }, ['postgres.version fault']],
    ['version 14', { version: 140_000 }, []],
    ['a standby', { standby: true }, ['postgres.standby fault']],
    ['another encoding', { encoding: 'SQL_ASCII' }, ['postgres.encoding fault']],
  ])('The PostgreSQL check gives the expected findings for %s', (_what, facts, expected) =>
    expect(listComplaints(judgePostgres({ ...goodPostgres, ...facts }))).toEqual(expected),
  );

  it.each<[string, Partial<RedisFacts>, string[]]>([
    ['a server in order', {}, []],
    ['version 6.0', { version: '6.0.16' }, ['redis.version fault']],
    ['version 6.2', { version: '6.2.0' }, []],
    ['version 10', { version: '10.0.0' }, []],
    ['a disk that failed', { lastWritesOk: false }, ['redis.disk fault']],
    ['a refused CONFIG and appendonly', { forbidden: ['CONFIG GET'], save: undefined }, []],
    [
      'a refused CONFIG without appendonly',
      { forbidden: ['CONFIG GET'], save: undefined, appendOnly: false },
      ['redis.unseen note'],
    ],
    ['a memory four fifths full', { maxMemory: 100, usedMemory: 80 }, []],
    ['a memory more than four fifths full', { maxMemory: 100, usedMemory: 81 }, ['redis.memory warning']],
  ])('The Redis check gives the expected findings for %s', (_what, facts, expected) =>
    expect(listComplaints(judgeRedis({ ...goodRedis, ...facts }))).toEqual(expected),
  );
});

describe('published keys of several processes', () => {
  const key = (kid: string, state: 'next' | 'active' | 'retired') =>
    ({ kid, alg: 'ES256', createdAt: 0, activatesAt: 0, expiresAt: null, state }) as const;
  const keys = [key('new', 'next'), key('now', 'active'), key('old', 'retired')];
  it.each([
    [
      'all processes publish the same keys',
      [
        ['now', 'new', 'old'],
        ['old', 'new', 'now'],
      ],
      'ok',
    ],
    [
      'one process has not read the next keys yet',
      [
        ['now', 'new', 'old'],
        ['now', 'old'],
      ],
      'note',
    ],
    ['one process lacks the key that signs', [['now', 'new', 'old'], ['old']], 'fault'],
    ['one process has another database', [['now', 'new', 'old'], ['theirs']], 'fault'],
    ['one process answers something else', [['now', 'new', 'old'], []], 'fault'],
  ])('The key check gives the expected level when %s', (_what, published, level) =>
    expect(judgePublished(published, keys).map((found) => found.level)).toEqual([level]),
  );
});
