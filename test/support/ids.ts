/** Tests write ids, hashes and addresses as plain texts. These functions give them their types; at run time they change nothing. */
export * from '../../server/shared/ids.ts';
