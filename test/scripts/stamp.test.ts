import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFiles, readStamp, sameContent, takeStamp, writeStamp } from '../../scripts/lib/stamp.mjs';

const INPUTS = ['server', 'tsconfig.json', 'absent'];
let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'stamp-'));
  mkdirSync(join(base, 'server/rooms'), { recursive: true });
  writeFileSync(join(base, 'server/main.ts'), 'main');
  writeFileSync(join(base, 'server/rooms/a.ts'), 'a');
  writeFileSync(join(base, 'tsconfig.json'), '{}');
});
afterEach(() => rmSync(base, { recursive: true }));

const setTime = (path: string, seconds: number) => utimesSync(join(base, path), seconds, seconds);

describe('what counts as changed', () => {
  it('The stamp lists files in folders and leaves out what does not exist', () => {
    expect(listFiles(base, INPUTS)).toEqual(['server/main.ts', 'server/rooms/a.ts', 'tsconfig.json']);
  });

  it('Other content of the same size with another time is a change', () => {
    const before = takeStamp(base, INPUTS);
    writeFileSync(join(base, 'server/rooms/a.ts'), 'b');
    setTime('server/rooms/a.ts', 1_000);
    expect(sameContent(takeStamp(base, INPUTS, before), before)).toBe(false);
  });

  it('Another time with the same content is no change', () => {
    const before = takeStamp(base, INPUTS);
    setTime('server/main.ts', 1_000);
    const now = takeStamp(base, INPUTS, before);
    expect(now.files['server/main.ts']?.mtimeMs).toBe(1_000_000);
    expect(sameContent(now, before)).toBe(true);
  });

  it('A new file and a removed file are changes', () => {
    const before = takeStamp(base, INPUTS);
    writeFileSync(join(base, 'server/new.ts'), '');
    const added = takeStamp(base, INPUTS, before);
    rmSync(join(base, 'server/main.ts'));
    const exchanged = takeStamp(base, INPUTS, before);
    expect([sameContent(added, before), sameContent(exchanged, before)]).toEqual([false, false]);
  });

  it('Another platform is a change, because its binaries do not run here', () => {
    const before = takeStamp(base, INPUTS);
    expect(sameContent({ ...before, platform: 'plan9-vax' }, before)).toBe(false);
  });

  it('A file of the same size and time is not read again', () => {
    setTime('server/main.ts', 1_000);
    const before = takeStamp(base, INPUTS);
    writeFileSync(join(base, 'server/main.ts'), 'MAIN');
    setTime('server/main.ts', 1_000);
    expect(takeStamp(base, INPUTS, before)).toEqual(before);
    expect(sameContent(takeStamp(base, INPUTS), before)).toBe(false);
  });
});

describe('the stamp on disk', () => {
  it('A stamp is read as it was written', () => {
    const stamp = takeStamp(base, INPUTS);
    writeStamp(join(base, 'dist/.stamp'), stamp);
    expect(readStamp(join(base, 'dist/.stamp'))).toEqual(stamp);
    expect(listFiles(base, ['dist'])).toEqual(['dist/.stamp']);
  });

  it.each(['', '{"files":', 'null', '{"files":null}', '[]'])(
    'A truncated or foreign stamp (%j) counts as missing',
    (content) => {
      writeFileSync(join(base, 'stamp'), content);
      expect(readStamp(join(base, 'stamp'))).toBeUndefined();
    },
  );

  it('A stamp file that does not exist counts as missing', () => {
    expect(readStamp(join(base, 'nowhere'))).toBeUndefined();
  });
});
