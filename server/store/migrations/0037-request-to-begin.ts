import type { Migration } from './migration.ts';

/** When, and with which text, a user has asked that the plan of an order begins before a withdrawal is over. */
export const requestToBegin: Migration = {
  name: '0037-request-to-begin',
  async up({ schema }) {
    await schema.alterTable('orders').addColumn('begin_requested_at', 'bigint').execute();
    await schema.alterTable('orders').addColumn('begin_wording', 'text').execute();
  },
};
