import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');

/** Variants of each kind of event, by a short description; '' if a kind has only one. */
export type EventVariants<Event extends { kind: string }> = {
  [Kind in Event['kind']]: Record<string, Extract<Event, { kind: Kind }>>;
};

/** One state of each kind. */
export type StateOfEachKind<State extends { kind: string }> = {
  [Kind in State['kind']]: Extract<State, { kind: Kind }>;
};

/** Every event in every state, as rows: the event, then the cell of each state. */
export function walkStates<State extends { kind: string }, Event extends { kind: string }>(
  states: StateOfEachKind<State>,
  events: EventVariants<Event>,
  toCell: (state: State, event: Event) => string,
): string[][] {
  const all = Object.values<State>(states);
  const rows = Object.entries<Record<string, Event>>(events).flatMap(([kind, variants]) =>
    Object.entries(variants).map(([variant, event]) => [
      variant === '' ? kind : `${kind}: ${variant}`,
      ...all.map((state) => toCell(state, event)),
    ]),
  );
  return [['event', ...Object.keys(states)], ...rows];
}

/** The first table below a heading of a page of the docs, without its line of dashes. */
export function readTable(page: string, heading: string): string[][] {
  const [, section = ''] = readFileSync(join(root, page), 'utf8').split(new RegExp(`^#+ ${heading}$`, 'm'));
  const lines = section.split('\n');
  const first = lines.findIndex((line) => line.startsWith('|'));
  const last = lines.findIndex((line, at) => at > first && !line.startsWith('|'));
  return lines
    .slice(first, last)
    .filter((line) => !/^[|\s:-]+$/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
