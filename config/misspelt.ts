import { variableNames } from './schema.ts';

/** An unknown variable, and the probably intended one. */
interface Misspelt {
  name: string;
  meant: string;
}

/** The allowed number of wrong, missing, added or exchanged letters: one in the shortest names, two in others. */
const differencesIn = (name: string): number => (name.length < 9 ? 1 : 2);
/** Shorter names resemble those of the shell: HOME is not HOST. */
const minLetters = 8;

const known: ReadonlySet<string> = new Set(variableNames);

/** The optimal string alignment distance: like Levenshtein's, but two exchanged neighbors count as one difference. */
function differences(one: string, other: string): number {
  let [before, row]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, n) => n)];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1];
      let min = Math.min((row?.[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row?.[j - 1] ?? 0) + (same ? 0 : 1));
      const exchanged = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (exchanged) min = Math.min(min, (before?.[j - 2] ?? 0) + 1);
      next.push(min);
    }
    [before, row] = [row, next];
  }
  return row?.[other.length] ?? 0;
}

/** Variables that differ by a letter or two from a known one that is not set. Values are ignored. */
export function misspelt(environment: NodeJS.ProcessEnv): Misspelt[] {
  const missing = variableNames.filter((name) => !environment[name] && name.length >= minLetters);
  return Object.keys(environment)
    .filter((name) => environment[name] && !known.has(name) && /^[A-Z][A-Z0-9_]{6,39}$/.test(name))
    .sort()
    .flatMap((name) => {
      const close = missing
        .filter((candidate) => Math.abs(candidate.length - name.length) <= differencesIn(candidate))
        .map((meant) => ({ name, meant, by: differences(name, meant) }))
        .filter(({ meant, by }) => by <= differencesIn(meant))
        .sort((one, other) => one.by - other.by);
      return close.slice(0, 1).map(({ meant }) => ({ name, meant }));
    });
}
