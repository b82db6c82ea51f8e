import type { E164 } from '../../shared/index.ts';

/** Enough for users to recognize their own number: `+49…67`. */
export const formatPhone = (phone: E164): string => `${phone.slice(0, 3)}…${phone.slice(-2)}`;
