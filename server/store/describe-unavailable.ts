import type { StoreUnavailable } from './key-value.ts';

const reachable = (variable: string) => `See that it runs and can be reached, and that ${variable} is right`;

/** The beginning of the errors of each store, and what the operator can do. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/^PostgreSQL refuses /, 'Make the user of DATABASE_URL the owner of its database (ALTER DATABASE … OWNER TO …)'],
  [/^PostgreSQL /, reachable('DATABASE_URL')],
  [/^Redis /, reachable('REDIS_URL')],
];

/** For operators: the reason, and the remedy with the variable. */
export function describeUnavailable({ message }: StoreUnavailable): string {
  const remedy =
    remedies.find(([beginning]) => beginning.test(message))?.[1] ??
    'See that DATA_DIR is right, and who owns its files';
  return `A store does not answer: ${message.replace(/\.$/, '')}. ${remedy}; \`foyer doctor\` tells more.`;
}
