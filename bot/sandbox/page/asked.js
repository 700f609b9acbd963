// What the drawer asks of the sandbox: its answer, or why there is none.

export async function asked(verb, path, body) {
  try {
    const response = await fetch(path, {
      method: verb,
      ...(body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
    });
    return await response.json();
  } catch {
    return { ok: false, error: "The sandbox does not answer." };
  }
}
