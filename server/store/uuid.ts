import { randomUUID } from 'node:crypto';

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, so that ids sort by age, then 74 random bits.
 * Ids of one millisecond have no order.
 */
export function uuidv7(nowMs: number = Date.now()): string {
  const time = nowMs.toString(16).padStart(12, '0');
  // The random part and the variant come from a version 4 UUID: xxxxxxxx-xxxx-4RRR-VRRR-RRRRRRRRRRRR.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
