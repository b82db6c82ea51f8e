import type { Migration } from './migration.ts';

/** The audit trail: a queue that requests write, the chain that a sealer appends to, and its two checkpoints. */
export const auditTrail: Migration = {
  name: '0030-audit-trail',
  async up({ schema }) {
    for (const table of ['audit_queue', 'audit_events']) {
      const key = table === 'audit_queue' ? 'id' : 'seq';
      const columns = schema
        .createTable(table)
        .addColumn('id', 'text', (column) => (key === 'id' ? column.primaryKey() : column.notNull().unique()))
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('user_id', 'text')
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('person', 'text')
        .addColumn('salt', 'text');
      await (key === 'id'
        ? columns
        : columns
            .addColumn('seq', 'bigint', (column) => column.primaryKey())
            .addColumn('chain_hash', 'text', (column) => column.notNull())
      ).execute();
    }
    await schema.createIndex('audit_events_user').on('audit_events').columns(['user_id', 'seq']).execute();
    await schema.createIndex('audit_events_at').on('audit_events').column('at').execute();
    await schema
      .createTable('audit_marks')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .addColumn('chain_hash', 'text', (column) => column.notNull())
      .addColumn('mac', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
