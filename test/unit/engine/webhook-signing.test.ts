/** Secrets of webhooks, what they sign, and where events may be sent. */
import { describe, expect, it } from "vitest";
import { isPublicAddress, literalAddress } from "../../../services/engine/webhooks/public-address.ts";
import {
  mintWebhookSecret,
  openSecret,
  sealSecret,
} from "../../../services/engine/webhooks/sealed-secret.ts";
import { sign } from "../../../services/engine/webhooks/sign.ts";
import { verifyWebhook } from "../../../services/worker-sdk/webhooks.ts";

const NOW = 1_800_000_000_000;
const BODY = JSON.stringify({ type: "item.advanced", data: { itemId: "é" } });

describe("a signature", () => {
  const secret = mintWebhookSecret();
  const headers = { ...sign(secret, "delivery-1", BODY, NOW) };
  const verify = (more: object) => verifyWebhook({ secret, headers, body: BODY, nowMs: NOW, ...more });

  it("is known by whoever has the secret, as text or as bytes", () => {
    expect(verify({})).toEqual({ ok: true, id: "delivery-1", sentAtMs: NOW });
    expect(verify({ body: Buffer.from(BODY) })).toMatchObject({ ok: true });
    expect(verify({ secret: [mintWebhookSecret(), secret] })).toMatchObject({ ok: true });
  });

  it("does not fit another body, id, time or secret", () => {
    const wrong = { ok: false, refusal: "wrong_signature" };
    expect(verify({ body: `${BODY} ` })).toEqual(wrong);
    expect(verify({ headers: { ...headers, "webhook-id": "delivery-2" } })).toEqual(wrong);
    expect(verify({ headers: { ...headers, "webhook-timestamp": "1800000001" } })).toEqual(wrong);
    expect(verify({ secret: mintWebhookSecret() })).toEqual(wrong);
    expect(verify({ headers: { ...headers, "webhook-signature": "v1,AAAA v2,x" } })).toEqual(wrong);
  });

  it("is worth nothing later, nor before its time", () => {
    expect(verify({ nowMs: NOW + 300_000 })).toMatchObject({ ok: true });
    expect(verify({ nowMs: NOW + 301_000 })).toEqual({ ok: false, refusal: "too_old" });
    expect(verify({ nowMs: NOW - 301_000 })).toEqual({ ok: false, refusal: "too_new" });
    expect(verify({ nowMs: NOW + 301_000, toleranceSeconds: 600 })).toMatchObject({ ok: true });
  });

  it.each([{}, { "webhook-id": "a" }, { ...headers, "webhook-timestamp": "soon" }])(
    "is missed where it is missing (%#)",
    (given) => {
      expect(verify({ headers: given })).toEqual({ ok: false, refusal: "malformed" });
    },
  );
});

describe("a sealed secret", () => {
  const key = "k".repeat(40);
  const secret = mintWebhookSecret();

  it("opens with the key and for the webhook that it was sealed for, and nowhere else", () => {
    const sealed = sealSecret(secret, key, "hook-1");
    expect(sealed.includes(secret)).toBe(false);
    expect(openSecret(sealed, key, "hook-1")).toBe(secret);
    expect(() => openSecret(sealed, `${key}x`, "hook-1")).toThrow("unable to authenticate");
    expect(() => openSecret(sealed, key, "hook-2")).toThrow("unable to authenticate");
    sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
    expect(() => openSecret(sealed, key, "hook-1")).toThrow("unable to authenticate");
  });
});

describe("an address", () => {
  it.each(["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111"])("%s is anybody's", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "fd12::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "example.com",
  ])("%s is private, local or none", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it("is read out of a URL as the URL parser understands it", () => {
    expect(literalAddress(new URL("http://0x7f000001/").hostname)).toBe("127.0.0.1");
    expect(literalAddress(new URL("http://[::1]:80/").hostname)).toBe("::1");
    expect(literalAddress("example.com")).toBeNull();
  });
});
