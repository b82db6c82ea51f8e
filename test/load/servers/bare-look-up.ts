/** The baseline for look-ups: Express with one route that reads one row of SQLite by its key. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import express from 'express';
import { serve } from '../rpc.ts';
import { type Listening, usage } from '../setting.ts';
import { listen } from './listen.ts';

const folder = mkdtempSync(join(tmpdir(), 'foyer-bench-look-up-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

function start({ ids }: { ids: string[] }): Promise<Listening> {
  const database = new DatabaseSync(join(folder, 'bare.db'));
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('CREATE TABLE members (id TEXT PRIMARY KEY, email TEXT, given_name TEXT, family_name TEXT) STRICT');
  const insert = database.prepare('INSERT INTO members VALUES (?, ?, ?, ?)');
  for (const [index, id] of ids.entries()) insert.run(id, `member${index}@example.com`, 'Ada', `Member${index}`);
  const read = database.prepare('SELECT * FROM members WHERE id = ?');
  const app = express();
  app.use(express.json());
  app.post('/user/listUserWithPoolId', (req, res) => {
    const { userId }: { userId: string } = req.body;
    res.json({ data: { Items: [read.get(userId)] } });
  });
  return listen(app);
}

const handlers = { start, usage };
export type BareLookUp = typeof handlers;
serve(handlers);
