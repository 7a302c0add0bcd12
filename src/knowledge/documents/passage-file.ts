// The tables of a folder's passages. Removed passages are overwritten: what is forgotten must not stay on the disk.
import { tokenizer } from "#knowledge/index/index-file.ts"
import type { Layout } from "#knowledge/index/open-database.ts"

/** Raise `format` whenever the same file would be indexed differently, for example if more of it is redacted: all is then
 * read again. The passages of a file have rows in sequence, and so have its parts. */
export const passageFile: Layout = {
  format: 3,
  schema: `
    create table files (
      id integer primary key, path text not null unique, stamp text not null,
      first integer not null, last integer not null
    );
    create table parts (
      id integer primary key, file integer not null, first integer not null, last integer not null,
      embedder text not null, vector blob not null
    );
    create index file_of_row on files (first);
    create index parts_of on parts (file);
    create virtual table words using fts5 (name, text, more, place unindexed, tokenize = "${tokenizer}");
    insert into words (words, rank) values ('secure-delete', 1)`,
  pragmas: "pragma secure_delete = on",
  probe: "select max(id) from files; select max(id) from parts; select rowid from words limit 1",
  keepsReplaced: false,
}
