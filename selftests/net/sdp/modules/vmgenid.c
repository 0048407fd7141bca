// SPDX-License-Identifier: GPL-2.0
/*
 * Tells the kernel that the machine resumes from a snapshot, when the module is loaded.
 *
 * The driver of the VM generation ID does the same. The kernel exports that function to this
 * driver only, so it is looked up by a kprobe.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/random.h>

static int __init copied_init(void)
{
	struct kprobe where = { .symbol_name = "add_vmfork_randomness" };
	void (*tell)(const void *id, size_t length);
	u8 id[16];
	int err = register_kprobe(&where);

	if (err)
		return err;
	tell = (void *)where.addr;
	unregister_kprobe(&where);
	get_random_bytes(id, sizeof(id));
	tell(id, sizeof(id));
	return 0;
}

static void __exit copied_exit(void)
{
}

module_init(copied_init);
module_exit(copied_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A machine that is a copy of itself, for tests");
