// The tools of the vault, and their manuals for docs/tools.md.
import type { Definition } from "#ability/call/types.ts"
import { cryptoDecrypt, cryptoEncrypt, decryptManual, encryptManual } from "./encrypt-tools.ts"
import {
  listManual,
  removeManual,
  secretsList,
  secretsRemove,
  secretsSet,
  setManual,
} from "./secret-tools.ts"
import { cryptoHash, cryptoSign, cryptoVerify, hashManual, signManual, verifyManual } from "./sign-tools.ts"
import { secretsUse, manual as useManual } from "./use-secret.ts"

export const vaultTools: readonly Definition[] = [
  secretsSet,
  secretsList,
  secretsUse,
  secretsRemove,
  cryptoEncrypt,
  cryptoDecrypt,
  cryptoSign,
  cryptoVerify,
  cryptoHash,
]

/** By the id of the tool. */
export const manuals = {
  secrets_set: setManual,
  secrets_list: listManual,
  secrets_use: useManual,
  secrets_remove: removeManual,
  crypto_encrypt: encryptManual,
  crypto_decrypt: decryptManual,
  crypto_sign: signManual,
  crypto_verify: verifyManual,
  crypto_hash: hashManual,
}
