import type { Migration } from './migration.ts';

/** The pictures that users upload, one for each user, as base64 text. */
export const uploadedPictures: Migration = {
  name: '0033-uploaded-pictures',
  async up({ schema }) {
    await schema
      .createTable('uploaded_pictures')
      .addColumn('user_id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
