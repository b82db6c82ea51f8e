/** Enough for users to recognize their own number: `+49…67`. @param phone E.164 */
export const formatPhone = (phone: string): string => `${phone.slice(0, 3)}…${phone.slice(-2)}`;
