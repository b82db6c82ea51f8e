/**
 * The module of the audit trail: events that an auditor or a member can look up later, each with its actor, subject,
 * client app, address and device.
 * Owns the closed list of events, the queue and the hash chain, its verification, its retention, and the aggregation of
 * refused sign-ins. Does not own when an event happens: the module of the change records it in its transaction, through
 * the outbox (`Outbox.record`) or a hook, so that only `wiring.ts` and the commands name this module.
 */
export { actAs } from './actor.ts';
export { type AuditHooks, type AuditSubscribers, createAuditHooks } from './audit-hooks.ts';
export { type EventFilter, eraseAuditEvents, exportMemberEvents, listEvents, listMemberEvents } from './audit-store.ts';
export { type ChainPoint, toAuditKeys } from './chain.ts';
export { type AuditTrail, createAuditTrail } from './create-audit-trail.ts';
export { type AuditEntry, type EventType, eventTypes, type ListedEvent } from './events.ts';
export { recordEntry } from './record-entry.ts';
export { sealAll } from './seal.ts';
export { verifyChain } from './verify-chain.ts';
