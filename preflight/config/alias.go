package config

import (
	"strings"
	"unicode"
)

// aliases are what people call the same hyper-parameter, the first name being the
// one it is told by. They are written as [canonical] writes names.
var aliases = [][]string{
	{"learning_rate", "lr", "base_lr", "init_lr", "initial_lr", "initial_learning_rate", "init_learning_rate", "base_learning_rate", "lr_init"},
	{"min_lr", "min_learning_rate", "end_lr", "end_learning_rate", "lr_end", "final_lr"},
	{"batch_size", "bs", "batchsize", "train_batch_size", "per_device_train_batch_size", "micro_batch_size", "train_bs"},
	{"global_batch_size", "total_batch_size"},
	{"eval_batch_size", "test_batch_size", "val_batch_size", "per_device_eval_batch_size"},
	{"epochs", "num_epochs", "epoch", "n_epochs", "max_epochs", "max_epoch", "train_epochs", "num_train_epochs", "epoch_num", "nepochs"},
	{"max_steps", "total_steps", "num_steps", "train_steps", "num_train_steps", "max_iters", "max_iter", "train_iters", "iterations", "n_steps"},
	{"warmup_steps", "num_warmup_steps", "warmup_iters", "warmup", "lr_warmup_steps", "lr_warmup_iters"},
	{"warmup_epochs", "num_warmup_epochs", "warmup_epoch"},
	{"weight_decay", "wd", "l2", "l2_reg", "l2_regularization"},
	{"momentum", "sgd_momentum"},
	{"beta1", "beta_1", "adam_beta1"},
	{"beta2", "beta_2", "adam_beta2"},
	{"epsilon", "eps", "adam_epsilon", "adam_eps"},
	{"optimizer", "opt", "optim", "optimizer_name", "optimizer_type"},
	{"scheduler", "lr_scheduler", "lr_schedule", "lr_scheduler_type", "lr_decay_style", "lr_policy"},
	{"seed", "random_seed", "rand_seed", "manual_seed", "global_seed"},
	{"dropout", "dropout_rate", "drop_rate", "dropout_prob", "hidden_dropout"},
	{"gradient_clip", "grad_clip", "clip_grad", "clip_norm", "max_grad_norm", "gradient_clip_val", "clip_grad_norm", "gradient_clipping", "global_clipnorm"},
	{"gradient_accumulation_steps", "accum_steps", "grad_accum", "accumulate_grad_batches", "gradient_accumulation", "accumulation_steps"},
	{"loss_scale", "init_loss_scale", "initial_loss_scale", "initial_scale", "init_scale", "loss_scale_value"},
	{"loss_scale_window", "scale_window", "growth_interval", "increment_period", "dynamic_growth_steps", "incr_every_n_steps"},
	{"num_workers", "workers", "n_workers", "dataloader_num_workers", "num_parallel_calls", "num_parallel_workers"},
	{"shuffle", "do_shuffle"},
	{"hidden_size", "hidden_dim", "d_model", "n_embd", "embed_dim"},
	{"num_layers", "n_layers", "n_layer", "num_hidden_layers", "depth"},
	{"num_heads", "n_heads", "n_head", "num_attention_heads"},
	{"max_seq_length", "seq_length", "seq_len", "max_length", "max_len", "sequence_length"},
	{"precision_mode", "precision", "dtype", "mixed_precision"},
	{"image_size", "img_size", "input_size", "resolution"},
	{"label_smoothing", "smoothing", "label_smooth"},
}

// meaning leads from a name to the one it is told by.
var meaning = func() map[string]string {
	m := map[string]string{}
	for _, names := range aliases {
		for _, n := range names {
			m[n] = names[0]
		}
	}
	return m
}()

// canonical writes a name in lower case with underscores: trainBatchSize and
// TRAIN-BATCH-SIZE are train_batch_size.
func canonical(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r == '-' || r == ' ':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			if i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1])) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// meant is the name by which a key is told: its last part, by what people call it.
func meant(key string) string {
	last := canonical(key[strings.LastIndexByte(key, '.')+1:])
	if m, ok := meaning[last]; ok {
		return m
	}
	return last
}

// Known tells whether a key is a hyper-parameter that training depends on.
func Known(key string) bool {
	_, ok := meaning[canonical(key[strings.LastIndexByte(key, '.')+1:])]
	return ok
}
