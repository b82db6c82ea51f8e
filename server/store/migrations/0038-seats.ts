import type { Migration } from './migration.ts';

/** Plans that are sold by the seat: how many a user has, gets with the next period, buys and has paid. */
export const seats: Migration = {
  name: '0038-seats',
  async up({ schema }) {
    await schema.alterTable('users').addColumn('seats', 'integer').execute();
    await schema.alterTable('memberships').addColumn('seats', 'integer').execute();
    await schema.alterTable('memberships').addColumn('next_seats', 'integer').execute();
    await schema.alterTable('purchases').addColumn('seats', 'integer').execute();
    await schema.alterTable('orders').addColumn('seats', 'integer').execute();
  },
};
