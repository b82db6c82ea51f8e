import { randomUUID } from 'node:crypto';

let lastMs = -1;
let sequence = 0;

/** Begins with 11 random bits in each millisecond; the twelfth leaves 2,048 ids before it stays at its end. */
function nextSequence(nowMs: number, randomDigits: string): number {
  sequence = nowMs === lastMs ? Math.min(sequence + 1, 0xfff) : Number.parseInt(randomDigits, 16) & 0x7ff;
  lastMs = nowMs;
  return sequence;
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, then a sequence of 12 bits, so that ids that one
 * process creates in one millisecond keep their order, too (section 6.2, method 1), then 62 random bits.
 */
export function uuidv7(nowMs: number = Date.now()): string {
  const time = nowMs.toString(16).padStart(12, '0');
  // The random part and the variant come from a version 4 UUID: xxxxxxxx-xxxx-4RRR-VRRR-RRRRRRRRRRRR.
  const random = randomUUID();
  const next = nextSequence(nowMs, random.slice(15, 18)).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${next}${random.slice(18)}`;
}
