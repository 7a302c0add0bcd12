// What people say when they mean a domain, so that an agent need not list it all.

const table: Record<string, string> = {
  coding:
    "code coding bug fix debug implement refactor compile function class method module api crash exception error feature test build typescript javascript python rust login endpoint",
  testing: "test tests coverage assert fixture regression flaky",
  analysis: "analyze analyse analysis data statistics chart trend compare measure metric csv report",
  documentation: "document documentation docs readme changelog guide tutorial comment",
  writing: "write draft article blog letter email translate proofread",
  research: "research investigate search web compare source paper survey",
  security: "security vulnerability exploit audit secret encrypt permission injection cve",
  design: "design layout css style component color accessibility wireframe",
  data: "data database sql query table schema migration csv",
  operations: "deploy release docker kubernetes server ci pipeline monitor infrastructure",
}
const others: Record<string, string> = {
  code: "coding",
  development: "coding",
  engineering: "coding",
  docs: "documentation",
  devops: "operations",
  ops: "operations",
}

/** Words for a domain; its own name alone where nobody wrote more. */
export function domainWords(domain: string): string {
  const name = domain.toLowerCase()
  const key = Object.hasOwn(others, name) ? others[name]! : name
  return `${domain} ${Object.hasOwn(table, key) ? table[key] : ""}`
}
