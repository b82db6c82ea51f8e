import { megabytes, soak } from './soak.ts';

/** docs/benchmarks.md sets both: a simulated day of one address, and hours of a hundred. */
const hours = Number(process.env.FOYER_SOAK_HOURS ?? 0.5);
const addresses = Number(process.env.FOYER_SOAK_ADDRESSES ?? 1);
const mostBytes = addresses === 1 ? 50e6 : 500e6;
const dayHours = 24;

it(
  `Both stores stay small while visitors from ${addresses} address(es) each reach all of their limits`,
  async () => {
    const tell = process.env.FOYER_SOAK_HOURS === undefined ? undefined : (line: string) => console.log(line);
    const { keyValueBytes, databaseBytes, answers } = await soak({ addresses, hours, ...(tell && { tell }) });
    tell?.(JSON.stringify(answers, undefined, 1));
    // Records in the key-value store expire within two hours; those in the database add up.
    const aDay = keyValueBytes + databaseBytes * Math.max(1, dayHours / hours);
    tell?.(`${addresses} address(es), a day: at most ${megabytes(aDay)}`);
    expect(aDay).toBeLessThan(mostBytes);
    // Every kind must have been sent and understood. These kinds name a flow that does not exist.
    const ofNoFlow = new Set(['confirmation by call', 'code again by call']);
    for (const [name, statuses] of Object.entries(answers)) {
      const wrong = ['405', '415', '500', ...(ofNoFlow.has(name) ? [] : ['404'])];
      expect([name, Object.keys(statuses).filter((status) => wrong.includes(status))]).toEqual([name, []]);
    }
    for (const kept of ['authorize, long state', 'authorize by POST', 'sign-up', 'forgot password']) {
      expect([kept, (answers[kept]?.['303'] ?? 0) + (answers[kept]?.['200'] ?? 0) > 0]).toEqual([kept, true]);
      expect([kept, (answers[kept]?.['429'] ?? 0) + (answers[kept]?.['503'] ?? 0) > 0]).toEqual([kept, true]);
    }
  },
  60_000 + hours * addresses * 120_000,
);
