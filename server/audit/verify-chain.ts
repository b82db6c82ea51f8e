import { type Db, parseStored, StoredDataInvalid } from '../store/index.ts';
import { findMark, findNewest, findStray, type MarkRow, readChain, type SealedRow } from './audit-store.ts';
import { type ChainPoint, canonicalJson, digestPerson, isSigned, linkEvent, start } from './chain.ts';
import { bodySchema, personSchema } from './events.ts';

/** The result of a verification. `fault` is about the first broken event. */
type ChainReport =
  | { kind: 'intact'; events: number; erased: number; first: number; head: ChainPoint }
  | { kind: 'broken'; seq: number; id: string | null; fault: string };

const pageRows = 1_000;

const broken = (seq: number, fault: string, id: string | null = null): ChainReport => ({
  kind: 'broken',
  seq,
  id,
  fault,
});

/** The columns beside the hashed body, which lists use: they must agree with it. */
function findRowFault(row: SealedRow): string | undefined {
  const body = parseStored(bodySchema, row.body);
  if (canonicalJson(body) !== row.body) return 'its body is not in the canonical form';
  if (body.id !== row.id || body.at !== row.at || body.type !== row.type) return 'its columns differ from its body';
  if (row.person === null || row.salt === null) {
    return row.userId === null ? undefined : 'its personal part was removed, but not its member';
  }
  if (digestPerson(row.salt, row.person) !== body.person) return 'its member, address or device was changed';
  if (parseStored(personSchema, row.person).member !== row.userId) return 'its member was changed';
  return undefined;
}

/** The fault of the row that should be the next after a point; undefined: it is intact. */
export function findFault(before: ChainPoint, row: SealedRow): string | undefined {
  if (row.seq !== before.seq + 1) return 'it is missing';
  if (linkEvent(before, row.body).chainHash !== row.chainHash) return 'it was changed, or replaced by another event';
  try {
    return findRowFault(row);
  } catch (error) {
    if (error instanceof StoredDataInvalid) return 'its content cannot be read';
    throw error;
  }
}

function findMarkFault(keys: readonly Buffer[], { name, ...mark }: MarkRow): ChainReport | undefined {
  if (isSigned(keys, name, mark)) return undefined;
  return broken(mark.seq, `the checkpoint "${name}" is not signed with a key of SECRET_KEY`);
}

/** The checkpoints, checked; without any no event was ever sealed. */
async function readMarks(
  db: Db,
  keys: readonly Buffer[],
): Promise<{ fault: ChainReport } | { first: ChainPoint; head: ChainPoint }> {
  const [first, head] = [await findMark(db, 'start'), await findMark(db, 'head')];
  if (!first || !head) {
    const newest = await findNewest(db);
    if (first || head || newest) return { fault: broken(newest?.seq ?? 0, 'a checkpoint is missing') };
    return { first: start, head: start };
  }
  const fault = findMarkFault(keys, first) ?? findMarkFault(keys, head);
  return fault ? { fault } : { first, head };
}

interface Followed {
  point: ChainPoint;
  erased: number;
}

/** Checks a page of events. @returns the last point, or the first fault */
function followRows(
  rows: readonly SealedRow[],
  from: Followed,
  anchor: ChainPoint | undefined,
): { fault: ChainReport } | Followed {
  let { point, erased } = from;
  for (const row of rows) {
    const fault = findFault(point, row);
    const next = point.seq + 1;
    if (fault !== undefined) return { fault: row.seq === next ? broken(next, fault, row.id) : broken(next, fault) };
    if (row.seq === anchor?.seq && row.chainHash !== anchor.chainHash) {
      return { fault: broken(row.seq, 'its hash differs from the anchor', row.id) };
    }
    if (row.person === null && parseStored(bodySchema, row.body).person !== null) erased += 1;
    point = { seq: row.seq, chainHash: row.chainHash };
  }
  return { point, erased };
}

/** Checks the end of the chain against its checkpoint and the anchor. */
function findEndFault(point: ChainPoint, head: ChainPoint, anchor: ChainPoint | undefined): ChainReport | undefined {
  if (point.seq !== head.seq) return broken(point.seq + 1, `it is missing, and all after it up to ${head.seq}`);
  if (point.chainHash !== head.chainHash) return broken(head.seq, 'its hash differs from the checkpoint "head"');
  if (anchor && anchor.seq > head.seq) return broken(head.seq + 1, `it is missing: the anchor is event ${anchor.seq}`);
  return undefined;
}

/** Events beyond both checkpoints. Those that were sealed since the head was read are no fault. */
async function findStrayFault(
  db: Db,
  keys: readonly Buffer[],
  { first, head }: { first: ChainPoint; head: ChainPoint },
): Promise<ChainReport | undefined> {
  const stray = await findStray(db, { after: first.seq, to: head.seq });
  if (!stray) return undefined;
  if (stray.seq <= first.seq) return broken(stray.seq, 'it was inserted before the first event', stray.id);
  const now = await findMark(db, 'head');
  const isSealed = now !== undefined && now.seq >= stray.seq && isSigned(keys, 'head', now);
  return isSealed ? undefined : broken(stray.seq, 'it was inserted after the last event', stray.id);
}

async function followChain(
  db: Db,
  keys: readonly Buffer[],
  { first, head, anchor }: { first: ChainPoint; head: ChainPoint; anchor: ChainPoint | undefined },
): Promise<ChainReport> {
  if (anchor?.seq === first.seq && anchor.chainHash !== first.chainHash) {
    return broken(first.seq, 'its hash differs from the anchor');
  }
  let followed: Followed = { point: { seq: first.seq, chainHash: first.chainHash }, erased: 0 };
  for (;;) {
    const rows = await readChain(db, { after: followed.point.seq, to: head.seq }, pageRows);
    const next = followRows(rows, followed, anchor);
    if ('fault' in next) return next.fault;
    followed = next;
    if (rows.length < pageRows) break;
  }
  const { point, erased } = followed;
  const fault = findEndFault(point, head, anchor) ?? (await findStrayFault(db, keys, { first, head }));
  if (fault) return fault;
  return { kind: 'intact', events: head.seq - first.seq, erased, first: first.seq + 1, head: point };
}

/**
 * Follows the chain from the checkpoint of retention to the head, and checks both checkpoints and every event.
 * @param anchor a head that an earlier verification or the log has named: it shows that the end was not cut off and
 * rewound to an older head
 */
export async function verifyChain(db: Db, keys: readonly Buffer[], anchor?: ChainPoint): Promise<ChainReport> {
  const marks = await readMarks(db, keys);
  if ('fault' in marks) return marks.fault;
  const { first, head } = marks;
  const report = await followChain(db, keys, { first, head, anchor });
  if (report.kind === 'intact') return report;
  // Retention may have deleted events meanwhile.
  const start = await findMark(db, 'start');
  return start === undefined || start.seq === first.seq ? report : verifyChain(db, keys, anchor);
}
