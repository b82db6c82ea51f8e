import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventTypes } from '../../server/billing/webhooks/event-subjects.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');

/** The names of a list in which `.updated` has the beginning of the name before it. */
function expandNames(list: string): string[] {
  const names: string[] = [];
  for (const [, name = ''] of list.matchAll(/`([\w.]+)`/g)) {
    const before = names.at(-1) ?? '';
    names.push(name.startsWith('.') ? before.slice(0, before.lastIndexOf('.')) + name : name);
  }
  return names;
}

it('The page docs/operating.md names exactly the events of Stripe that are read', () => {
  const list = /Choose these at Stripe:(.*?)Others are answered 200/s.exec(text)?.[1] ?? '';
  expect(expandNames(list).toSorted()).toEqual([...eventTypes].toSorted());
});
