// The tables of an index of tools, skills, rules, resources or prompts.
import type { Layout } from "./open-database.ts"

/** Words consist of letters, marks and digits of every script, and of symbols such as emoji. English words are stemmed. */
export const tokenizer = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co So'"

export const indexFile: Layout = {
  format: 1,
  schema: `
    create table documents (
      row integer primary key, id text not null unique, grp text not null, hash integer not null,
      name text not null, text text not null, more text not null
    );
    create index groups on documents (grp);
    create table vectors (row integer, embedder text, data blob not null, primary key (row, embedder)) without rowid;
    create virtual table words using fts5 (
      name, text, more, content = '', contentless_delete = 1,
      tokenize = "${tokenizer}"
    )`,
  pragmas: "pragma mmap_size = 268435456",
  probe: "select max(row) from documents; select max(row) from vectors; select rowid from words limit 1",
  keepsReplaced: true,
}
