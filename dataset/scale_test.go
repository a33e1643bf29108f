package dataset

import "testing"

// BenchmarkSynthetic generates graphs of the average degrees of reddit_full and
// papers100M, a fiftieth and a hundred-and-fiftieth as large.
func BenchmarkSynthetic(b *testing.B) {
	for _, c := range []struct{ name, spec string }{
		{"dense", "vertices=44e3,edges=11.4M,features=8,classes=50"},
		{"dense/features", "vertices=44e3,edges=2,features=300,classes=50"},
		{"dense/skew", "vertices=44e3,edges=11.4M,features=8,classes=50,skew=0.8"},
		{"sparse", "vertices=700e3,edges=10M,features=8,classes=172"},
		{"sparse/features", "vertices=700e3,edges=2,features=128,classes=172"},
		{"sparse/skew", "vertices=700e3,edges=10M,features=8,classes=172,skew=0.8"},
		{"sparse/rmat", "vertices=700e3,edges=10M,features=8,classes=172,kind=rmat"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			s, err := ParseSpec(c.spec)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := Synthetic(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkValidate walks a tenth of a gigabyte.
func BenchmarkValidate(b *testing.B) {
	d := mustSynthetic(b, "vertices=100e3,edges=2M,features=200")
	for b.Loop() {
		if err := ValidateTraining(d); err != nil {
			b.Fatal(err)
		}
	}
}
